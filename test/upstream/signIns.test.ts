import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AuthConfig } from '../../src/config/declaration/server.ts';
import type { HttpServerConfig } from '../../src/config/gatewayConfig.ts';
import { FileTokens } from '../../src/config/state/fileTokens.ts';
import { ServerConnection } from '../../src/upstream/connection/serverConnection.ts';
import { SignIns } from '../../src/upstream/connection/signIns.ts';
import { HttpLink } from '../../src/upstream/transports/httpLink.ts';
import { AuthorizationServer, type AuthorizationServerOptions, browse } from '../support/authorizationServer.ts';
import { httpServer } from '../support/httpServer.ts';
import { temporaryFolder } from '../support/workspace.ts';

const WAIT = { timeoutMs: 20_000 };
/** Longer than the shown part of an error. */
const LONG_SECRET = 'long-secret-'.repeat(60);

/** Makes the worker's side: sign-ins over a store, and a connection. */
function gateway(url: string, auth?: AuthConfig, root: string = temporaryFolder('wg-'), name = 'one') {
  const signIns = new SignIns(new FileTokens(root));
  const config: HttpServerConfig = {
    name,
    type: 'http',
    url,
    headers: {},
    ...(auth ? { auth } : {}),
    disabled: false,
    keepAlive: false,
    location: { file: 'waygate.json', line: 1, column: 1 },
  };
  const connection: ServerConnection = new ServerConnection(
    config,
    {
      openLink: async (given, events) =>
        new HttpLink(given as HttpServerConfig, events, signIns.sessionFor(given as HttpServerConfig)),
      mayTry: (given) => signIns.mayTry(given),
    },
    { onChange: () => undefined, log: () => undefined, scrubSecrets: (text) => text.replaceAll(LONG_SECRET, '*') },
  );
  onTestFinished(async () => {
    signIns.stop();
    await connection.stop();
  });
  const signIn = async (): Promise<string | undefined> => {
    const page = await browse(await signIns.begin(connection));
    expect(page.status).toBe(200);
    return signIns.ended(name);
  };
  return { signIns, connection, config, root, signIn };
}

async function guarded(options: AuthorizationServerOptions = {}, ...flags: string[]) {
  const issuer = await AuthorizationServer.start(options);
  onTestFinished(() => issuer.close());
  const { url, end } = await httpServer('--issuer', issuer.issuer, ...flags);
  return { issuer, url, end };
}

const textOf = (result: Record<string, unknown>): string => (result.content as { text: string }[])[0]?.text as string;
const echo = async (connection: ServerConnection, text = 'hi'): Promise<string> =>
  textOf(await connection.call('echo', { text }, WAIT));

describe('a sign-in', () => {
  it.each([
    ['if the refusal names the metadata', {}, []],
    ['if only the well-known address has the metadata', {}, ['--no-hint']],
    ['at a server of OpenID Connect', { openId: true }, []],
    ['at a server without metadata, as of 2025-03-26', { silent: true }, 'legacy'],
  ] as const)('completes %s', async (_what, options, flags) => {
    const issuer = await AuthorizationServer.start(options);
    onTestFinished(() => issuer.close());
    const { url } = await httpServer('--issuer', issuer.issuer, ...(flags === 'legacy' ? [] : flags));
    const { connection, signIn, root } = gateway(url);
    await connection.start();
    expect(connection.state).toBe('needs_sign_in');
    expect(connection.reason).toBe('It asks for a sign-in.');
    expect(await signIn()).toBeUndefined();
    expect(connection.state).toBe('ready');
    expect(await echo(connection)).toBe('hi');
    const [authorization] = issuer.authorizations;
    expect(authorization).toMatchObject({ response_type: 'code', code_challenge_method: 'S256', resource: url });
    expect(authorization?.redirect_uri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(issuer.tokenRequests).toMatchObject([{ grant_type: 'authorization_code', resource: url }]);
    const files = readdirSync(join(root, 'tokens')).map((file) => join(root, 'tokens', file));
    expect(files.map((file) => statSync(file).mode & 0o777)).toEqual([0o600]);
    // The callback server has closed after the sign-in.
    await expect(browse(authorization?.redirect_uri as string)).rejects.toThrow();
  });

  it('survives two restarts, and works in the gateways of other workspaces', async () => {
    const { url } = await guarded();
    const first = gateway(url);
    expect(await first.signIn()).toBeUndefined();
    await first.connection.stop();
    for (let restart = 0; restart < 2; restart++) {
      const next = gateway(url, undefined, first.root);
      expect(await echo(next.connection)).toBe('hi');
      await next.connection.stop();
    }
  });

  it('belongs to one configured server: another entry with the same address is another account', async () => {
    const { url } = await guarded();
    const first = gateway(url);
    expect(await first.signIn()).toBeUndefined();
    const other = gateway(url, undefined, first.root, 'two');
    await other.connection.start();
    expect(other.connection.state).toBe('needs_sign_in');
  });

  it('returns the same address while it is running', async () => {
    const { url } = await guarded();
    const { signIns, connection } = gateway(url);
    const [one, two] = await Promise.all([signIns.begin(connection), signIns.begin(connection)]);
    expect(two).toBe(one);
    expect(await signIns.begin(connection)).toBe(one);
  });

  it('begins anew at the new address after an edit, and starts the new connection', async () => {
    const [former, edited] = [await guarded(), await guarded()];
    const { signIns, connection, config } = gateway(former.url);
    await connection.start();
    const before = await signIns.begin(connection);
    const successor: ServerConnection = new ServerConnection(
      { ...config, url: edited.url },
      {
        openLink: async (given, events) =>
          new HttpLink(given as HttpServerConfig, events, signIns.sessionFor(given as HttpServerConfig)),
        mayTry: (given) => signIns.mayTry(given),
      },
      { onChange: () => undefined, log: () => undefined, scrubSecrets: (text) => text },
    );
    onTestFinished(() => successor.stop());
    await successor.start();
    const after = await signIns.begin(connection, () => successor);
    expect(new URL(after).origin).not.toBe(new URL(before).origin);
    await browse(after);
    expect(await signIns.ended('one')).toBeUndefined();
    expect(successor.state).toBe('ready');
  });

  it('is refused if the server is ready; a sign-out revokes it at the issuer too', async () => {
    const { url, issuer } = await guarded();
    const { signIns, connection, config, signIn } = gateway(url);
    await signIn();
    await expect(signIns.begin(connection)).rejects.toThrow(/^"one" is ready without a new sign-in\./);
    expect(await signIns.signOut(connection, config)).toBe(true);
    expect(issuer.seen).toContain('POST /revoke');
    expect(connection.state).toBe('needs_sign_in');
    await expect(echo(connection)).rejects.toMatchObject({ failure: 'unauthorized' });
    expect(await signIns.signOut(connection, config)).toBe(false);
    expect(await signIn()).toBeUndefined();
    expect(await echo(connection)).toBe('hi');
  });

  it.each([
    ['with a client that the user registered', { id: 'ours', secret: 'its secret' }],
    ['with the client metadata document', { id: 'https://waygate.example/client.json', secret: '' }],
  ])('works %s', async (_what, { id, secret }) => {
    const known = secret === '' ? {} : { client: { id, secret } };
    const { url, issuer } = await guarded({ ...known, metadata: { client_id_metadata_document_supported: true } });
    const own = secret === '' ? {} : { clientSecret: secret, issuer: issuer.issuer };
    const auth = { clientId: id, ...own, scopes: ['read', 'write'] };
    const { connection, signIn, root } = gateway(url, auth);
    expect(await signIn()).toBeUndefined();
    expect(issuer.authorizations).toMatchObject([{ client_id: id, scope: 'read write' }]);
    expect(issuer.seen).not.toContain('POST /register');
    issuer.expireAll();
    expect(await echo(connection)).toBe('hi');
    const [file] = readdirSync(join(root, 'tokens'));
    const stored = readFileSync(join(root, 'tokens', file as string), 'utf8');
    expect(stored).toContain(id);
    if (secret !== '') expect(stored).not.toContain(secret);
  });

  it('never sends the client secret to an authorization server that only the server names', async () => {
    const { url, issuer } = await guarded({ client: { id: 'ours', secret: 'its secret' } });
    const { signIns, connection } = gateway(url, { clientId: 'ours', clientSecret: 'its secret' });
    await expect(signIns.begin(connection)).rejects.toThrow(
      `The server names ${issuer.issuer} for its sign-in, and "auth.clientSecret" may be for another.`,
    );
    // Nor after a sign-in that began without a secret.
    const client = await AuthorizationServer.start({ metadata: { client_id_metadata_document_supported: true } });
    onTestFinished(() => client.close());
    const { url: other } = await httpServer('--issuer', client.issuer);
    const auth = { clientId: 'https://waygate.example/client.json' };
    const first = gateway(other, auth);
    await first.signIn();
    const later = gateway(other, { ...auth, clientSecret: 'its secret' }, first.root);
    client.expireAll();
    expect(await echo(later.connection)).toBe('hi');
    const sent = [issuer, client].flatMap((one) => [
      ...one.credentials,
      ...one.tokenRequests.map((form) => form.client_secret),
    ]);
    expect(sent.filter((text) => text?.includes('secret') || text?.startsWith('/token'))).toEqual([]);
  });

  it.each(['', 'a\r\nX-Evil: 1', 'täglich', 'two words'])(
    'keeps no token that no header can carry: %j',
    async (token) => {
      const { url } = await guarded({ accessToken: token });
      const { signIn, root } = gateway(url);
      expect(await signIn()).toBe('The authorization server gave a token that no header can carry.');
      expect(existsSync(join(root, 'tokens')) ? readdirSync(join(root, 'tokens')) : []).toEqual([]);
    },
  );
});

describe('a token', () => {
  it('is renewed after it has expired, once for all concurrent refusals', async () => {
    const { url, issuer } = await guarded();
    const { connection, signIn } = gateway(url);
    await signIn();
    issuer.expireAll();
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => echo(connection, String(i))));
    expect(answers).toEqual(Array.from({ length: 12 }, (_, i) => String(i)));
    expect(issuer.refreshes).toBe(1);
    issuer.expireAll();
    expect(await echo(connection)).toBe('hi');
    expect(issuer.refreshes).toBe(2);
  });

  it('is renewed before it expires', async () => {
    const { url, issuer } = await guarded({ expiresIn: 10 });
    const { connection, signIn } = gateway(url);
    await signIn();
    const before = issuer.refreshes;
    expect(await echo(connection)).toBe('hi');
    expect(issuer.refreshes).toBe(before + 1);
  });

  it('is renewed once by two gateways that share it: a refresh token is valid once', async () => {
    const { url, issuer } = await guarded();
    const first = gateway(url);
    await first.signIn();
    const second = gateway(url, undefined, first.root);
    await second.connection.start();
    issuer.expireAll();
    expect(await Promise.all([echo(first.connection), echo(second.connection)])).toEqual(['hi', 'hi']);
    expect(issuer.refreshes).toBe(1);
  });

  it('requires a new sign-in after it was revoked: calls fail without another request to the server', async () => {
    const { url, issuer } = await guarded();
    const { connection, signIn } = gateway(url);
    await signIn();
    issuer.revokeAll();
    await expect(echo(connection)).rejects.toMatchObject({
      failure: 'unauthorized',
      code: 401,
      message: 'Its sign-in has expired or was revoked. Sign in again.',
    });
    expect(connection.state).toBe('needs_sign_in');
    expect(issuer.refreshes).toBe(1);
    const asked = issuer.seen.length;
    for (let i = 0; i < 5; i++) await expect(echo(connection)).rejects.toMatchObject({ failure: 'unauthorized' });
    expect(issuer.seen).toHaveLength(asked);
    expect(await signIn()).toBeUndefined();
    expect(await echo(connection)).toBe('hi');
  });

  it('from a sign-in in another workspace is used by the next call', async () => {
    const { url } = await guarded();
    const first = gateway(url);
    await first.connection.start();
    const second = gateway(url, undefined, first.root);
    await second.signIn();
    expect(await echo(first.connection)).toBe('hi');
  });

  it('reports a failed renewal without secrets, whole or cut', async () => {
    const { url, issuer } = await guarded();
    const { connection, signIn } = gateway(url);
    await signIn();
    issuer.expireAll();
    issuer.outage = 503;
    issuer.outageWords = `not with ${LONG_SECRET}`;
    await expect(echo(connection)).rejects.toMatchObject({ name: 'NotDispatchedError' });
    expect(connection.reason).toMatch(/its sign-in could not be renewed at http:\/\/127\.0\.0\.1:\d+: not with \*\)/);
  });

  it('survives an issuer that is unavailable for a while', async () => {
    const { url, issuer } = await guarded();
    const { connection, signIn } = gateway(url);
    await signIn();
    issuer.expireAll();
    issuer.outage = 503;
    await expect(echo(connection)).rejects.toMatchObject({ name: 'NotDispatchedError' });
    expect(connection.state).toBe('failed');
    expect(connection.reason).toMatch(/its sign-in could not be renewed at http:\/\/127\.0\.0\.1:\d+: HTTP 503/);
    issuer.outage = undefined;
    expect(await echo(connection)).toBe('hi');
  });

  it('with too small a scope fails only that call; a new sign-in asks for the missing scope', async () => {
    const { url, issuer } = await guarded();
    const { connection, signIn } = gateway(url, { scopes: ['read'] });
    await signIn();
    await expect(echo(connection, 'admin')).rejects.toMatchObject({
      failure: 'unauthorized',
      code: 403,
      message: 'It requires more permission than the sign-in granted. Sign in again.',
    });
    expect(connection.state).toBe('ready');
    expect(connection.reason).toMatch(/requires more permission/);
    expect(await echo(connection)).toBe('hi');
    expect(await signIn()).toBeUndefined();
    expect(issuer.authorizations.map(({ scope }) => scope)).toEqual(['read', 'read admin']);
    expect(connection.reason).toBeUndefined();
    expect(await echo(connection, 'admin')).toBe('admin');
  });

  it('goes to no origin but that of its server', async () => {
    const seen: (string | undefined)[] = [];
    const elsewhere = createServer((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
    await new Promise<void>((done) => elsewhere.listen(0, '127.0.0.1', done));
    onTestFinished(() => void elsewhere.close());
    const { url, end } = await guarded();
    const { connection, signIn, signIns, config } = gateway(url);
    await signIn();
    expect(await echo(connection)).toBe('hi');
    const other = new URL(`http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/mcp`);
    const session = signIns.sessionFor(config);
    expect(await session?.headers(other)).toEqual({});
    expect(await session?.headers(new URL(url))).toHaveProperty('Authorization');
    // From now on the server names another issuer.
    await end();
    await httpServer('--port', new URL(url).port, '--redirect', other.href);
    await expect(echo(connection)).rejects.toThrow(/redirect to http/i);
    expect(seen).toEqual([]);
  });
});

describe('a sign-in is refused', () => {
  const begun = async (options: AuthorizationServerOptions, flags: string[] = [], auth?: AuthConfig) => {
    const { url } = await guarded(options, ...flags);
    return gateway(url, auth);
  };

  it('if the answer has a wrong state, but continues with its own', async () => {
    const { signIns, connection, signIn } = await begun({});
    const address = new URL(await signIns.begin(connection));
    const redirect = new URL(address.searchParams.get('redirect_uri') as string);
    redirect.search = '?code=theirs&state=theirs';
    expect(await browse(redirect.href)).toMatchObject({ status: 400, text: /not the sign-in/ });
    redirect.search = '?code=theirs';
    expect((await browse(redirect.href)).status).toBe(400);
    expect(connection.state).toBe('needs_sign_in');
    expect(await signIn()).toBeUndefined();
  });

  it.each([
    ['its address is a file', { authorization_endpoint: 'file:///etc/passwd' }, /page of the sign-in \(file:.*https:/],
    [
      'its address is no page',
      { authorization_endpoint: 'vscode://evil/x' },
      /\(vscode:\/\/evil\) must begin with https/,
    ],
    ['its address is a script', { authorization_endpoint: 'javascript:alert(1)' }, /is not usable/],
    ['its address is not encrypted', { authorization_endpoint: 'http://login.example/' }, /must begin with https/],
    ['its address holds a password', { authorization_endpoint: 'https://a:b@login.example/' }, /contains a password/],
    [
      'it would register elsewhere',
      { registration_endpoint: 'http://169.254.169.254/register' },
      /must begin with https/,
    ],
    [
      'it would register in another network',
      { registration_endpoint: 'https://169.254.169.254/r' },
      /link-local address/,
    ],
    ['it names another issuer', { issuer: 'https://login.example' }, /names itself https:\/\/login\.example/],
    ['it has no PKCE', { code_challenge_methods_supported: null }, /is not usable|does not offer PKCE/],
    ['it has another PKCE method', { code_challenge_methods_supported: ['plain'] }, /does not offer PKCE with S256/],
  ])('before the browser opens: %s', async (_what, metadata, sentence) => {
    const { signIns, connection } = await begun({ metadata });
    const error = await signIns.begin(connection).catch((thrown: Error) => thrown);
    expect((error as Error).name).toBe('SignInError');
    expect((error as Error).message).toMatch(sentence);
    expect((error as Error).message).not.toMatch(/\n/);
  });

  it.each([
    [
      'another server',
      '{"resource":"https://bank.example/mcp","authorization_servers":["https://x.example"]}',
      /another server/,
    ],
    [
      'an issuer on no safe way',
      '{"resource":"{here}/mcp","authorization_servers":["http://x.example"]}',
      /must begin with https/,
    ],
    [
      'an issuer at a file address',
      '{"resource":"{here}/mcp","authorization_servers":["file:///etc"]}',
      /must begin with https/,
    ],
    ['unreadable metadata', 'not JSON', /^The sign-in metadata of .* is not usable/],
  ])('if the server names %s', async (_what, says, sentence) => {
    const { signIns, connection } = await begun({}, ['--says', says]);
    await expect(signIns.begin(connection)).rejects.toThrow(sentence);
  });

  it('if the issuer differs from the configured one', async () => {
    const { signIns, connection } = await begun({}, [], { issuer: 'https://login.example' });
    await expect(signIns.begin(connection)).rejects.toThrow(/wants a sign-in at http:.*"auth\.issuer" is another/);
  });

  it.each([
    ['from another issuer', { iss: 'https://login.example' }, {}, /is not from http/],
    [
      'without the issuer that it announced',
      {},
      { authorization_response_iss_parameter_supported: true },
      /is not from http/,
    ],
  ])('if the answer comes %s', async (_what, redirect, metadata, sentence) => {
    const { issuer, url } = await guarded({ redirect: redirect as Record<string, string>, metadata });
    const { signIn, connection } = gateway(url);
    expect(await signIn()).toMatch(sentence);
    expect(issuer.tokenRequests).toEqual([]);
    expect(connection.state).toBe('needs_sign_in');
  });

  it('by the user, with the message of the issuer on one line', async () => {
    const { signIn } = await begun({ refuse: 'access_denied', redirect: { error_description: 'no\u001b[31m\nway' } });
    expect(await signIn()).toBe('The sign-in was refused (access_denied: no [31m way).');
  });

  it('for a local program, and for a server with its own token', async () => {
    const { url } = await guarded();
    const { signIns, connection } = gateway(url);
    connection.config = { ...connection.config, headers: { Authorization: 'Bearer x' } } as HttpServerConfig;
    await expect(signIns.begin(connection)).rejects.toThrow(/^It refused the Authorization in "headers"/);
  });
});
