import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { HttpServerConfig } from '../../src/config/gatewayConfig.ts';
import { FileTokens } from '../../src/config/state/fileTokens.ts';
import { httpUpstream } from '../../src/mcp/wire/http/httpUpstream.ts';
import { authByHeaders } from '../../src/mcp/wire/upstreamAuth.ts';
import { UpstreamClient } from '../../src/mcp/wire/upstreamClient.ts';
import { NotDispatchedError } from '../../src/upstream/connection/notDispatched.ts';
import { ServerConnection } from '../../src/upstream/connection/serverConnection.ts';
import { SignIns } from '../../src/upstream/connection/signIns.ts';
import { HttpLink } from '../../src/upstream/transports/httpLink.ts';
import { classified } from '../support/classified.ts';
import { until } from '../support/hostProcess.ts';
import { httpServer } from '../support/httpServer.ts';
import { shared } from '../support/lifetime.ts';
import { temporaryFolder } from '../support/workspace.ts';

const WAIT = { timeoutMs: 20_000 };
const TOOLS = 9;

function connect(url: string, more: Partial<HttpServerConfig> = {}) {
  const states: string[] = [];
  const signIns = new SignIns(new FileTokens(temporaryFolder('wg-')));
  const connection: ServerConnection = new ServerConnection(
    {
      name: 'one',
      type: 'http',
      url,
      headers: {},
      disabled: false,
      keepAlive: false,
      location: { file: 'waygate.json', line: 1, column: 1 },
      ...more,
    },
    {
      openLink: async (given, events) => {
        const config = given as HttpServerConfig;
        return new HttpLink(config, events, signIns.sessionFor(config));
      },
    },
    {
      onChange: () => {
        if (states.at(-1) !== connection.state) states.push(connection.state);
      },
      log: () => undefined,
      scrubSecrets: (text) => text,
    },
  );
  onTestFinished(() => connection.stop());
  return { connection, states };
}

const textOf = (result: Record<string, unknown>): string => (result.content as { text: string }[])[0]?.text as string;
const echo = async (connection: ServerConnection): Promise<string> =>
  textOf(await connection.call('echo', { text: 'hi' }, WAIT));

describe.each([
  ['Streamable HTTP', 'http', 'http'],
  ['Streamable HTTP with JSON answers', 'json', 'http'],
  ['HTTP+SSE', 'sse', 'sse'],
  ['HTTP+SSE, found by itself', 'sse', 'http'],
] as const)('a server over %s', (_what, kind, type) => {
  const open = shared(() => httpServer('--kind', kind));
  const guarded = shared(() => httpServer('--kind', kind, '--token', 'sesame'));

  it('lists, calls, receives notifications, and stops', async () => {
    const { url } = await httpServer('--kind', kind);
    const { connection, states } = connect(url, { type });
    await connection.start();
    expect(connection.reason).toBeUndefined();
    expect(connection.tools).toHaveLength(TOOLS);
    expect(await echo(connection)).toBe('hi');
    expect(textOf(await connection.call('wait', { ms: 400 }, WAIT))).toBe('waited');
    if (kind !== 'json') {
      await connection.call('change', {}, WAIT);
      await until('the new tool', () => connection.tools.length === TOOLS + 1);
    }
    await connection.stop();
    expect(states).toEqual(['starting', 'ready', 'stopped']);
  });

  it('sends the configured headers with every request', async () => {
    const { url } = guarded();
    const { connection } = connect(url, { type, headers: { Authorization: 'Bearer sesame', 'X-Team': 'shop' } });
    await connection.start();
    const headers = JSON.parse(textOf(await connection.call('headers', {}, WAIT))) as Record<string, string>;
    expect(headers).toMatchObject({ authorization: 'Bearer sesame', 'x-team': 'shop' });
  });

  it.each([
    [{}, /^It asks for a sign-in\.$/],
    [{ authorization: 'Bearer old' }, /^It refused the Authorization in "headers": the token may have expired/],
  ])('needs a sign-in if it answers 401 to %o', async (headers, reason) => {
    const { url } = guarded();
    const { connection, states } = connect(url, { type, headers });
    await connection.start();
    expect(states).toEqual(['starting', 'needs_sign_in']);
    expect(connection.reason).toMatch(reason);
  });

  it('is failed after it ended, and restarts with the next call once it is back', async () => {
    const server = await httpServer('--kind', kind);
    const { connection } = connect(server.url, { type });
    await connection.start();
    await expect(connection.call('crash', {}, WAIT)).rejects.toMatchObject({ failure: 'closed' });
    await server.end();
    await expect(echo(connection)).rejects.toThrow(NotDispatchedError);
    expect(connection.state).toBe('failed');
    expect(connection.reason).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+ could not be reached \(.*ECONNREFUSED.*\)\. The shown catalog \(9 tools\) is from its last good list\.$/,
    );
    // The server keeps its catalog.
    expect(connection.tools).toHaveLength(TOOLS);
    await httpServer('--kind', kind, '--port', String(server.port));
    expect(await echo(connection)).toBe('hi');
  });

  it('fails a call with an oversized answer at once', async () => {
    const { url } = open();
    const { connection } = connect(url, { type });
    await connection.start();
    // Over HTTP+SSE all answers share one stream, which an oversized one ends.
    await expect(connection.call('bytes', { n: 17_000_000 }, WAIT)).rejects.toMatchObject(
      kind === 'sse'
        ? { failure: 'closed' }
        : { failure: 'protocol', fault: { code: 'frame_too_large' }, knowledge: 'completed' },
    );
    expect(await echo(connection)).toBe('hi');
  });

  it('notifies the server of a cancelled call and continues', async () => {
    const { url } = open();
    const { connection } = connect(url, { type });
    await connection.start();
    await expect(connection.call('wait', { ms: 60_000 }, { timeoutMs: 50 })).rejects.toMatchObject({
      failure: 'timeout',
    });
    expect(await echo(connection)).toBe('hi');
  });
});

describe('a connection over Streamable HTTP', () => {
  it.each([['--no-get'], ['--forget'], []])(
    'begins a new session after the server has forgotten the old one %s',
    async (...flags) => {
      const { url } = await httpServer(...flags);
      const { connection, states } = connect(url);
      await connection.start();
      await connection.call('forget', {}, WAIT);
      expect(await echo(connection)).toBe('hi');
      expect(states.filter((state) => state === 'starting')).toHaveLength(2);
    },
  );

  it('fails a call at once if its answer breaks off, with unknown outcome', async () => {
    const { url } = await httpServer();
    const { connection } = connect(url);
    await connection.start();
    await expect(connection.call('cut', {}, WAIT)).rejects.toMatchObject({ failure: 'closed' });
    expect(await echo(connection)).toBe('hi');
  });

  it('notices soon that an idle server has gone', async () => {
    const server = await httpServer();
    const { connection } = connect(server.url);
    await connection.start();
    expect(await echo(connection)).toBe('hi');
    await server.end();
    await until('the loss', () => connection.state === 'failed');
    expect(connection.reason).toMatch(/^http:\/\/127\.0\.0\.1:\d+ could not be reached /);
  });

  it('ends its session when it stops', async () => {
    const log = join(temporaryFolder('wg-'), 'log');
    writeFileSync(log, '');
    const { url } = await httpServer('--log', log);
    const { connection } = connect(url);
    await connection.start();
    await connection.stop();
    expect(readFileSync(log, 'utf8')).toMatch(/^DELETE [\w-]{36}$/m);
  });

  it('answers requests of the server if a handler exists', async () => {
    const { url } = await httpServer();
    const { connection } = connect(url);
    connection.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///w' }] }), { roots: {} });
    expect(textOf(await connection.call('sample', {}, WAIT))).toBe('file:///w');
    const other = connect(url).connection;
    await expect(other.call('sample', {}, WAIT)).rejects.toMatchObject({ failure: 'error' });
  });

  it('follows a redirect within the origin, and refuses one to another origin', async () => {
    const seen: string[] = [];
    const elsewhere = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      response.end();
    });
    await new Promise<void>((done) => elsewhere.listen(0, '127.0.0.1', done));
    onTestFinished(() => void elsewhere.close());
    const target = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/latest/meta-data?key=secret`;
    for (const to of [target, target.replace('127.0.0.1', 'localhost')]) {
      const { connection } = connect((await httpServer('--redirect', to)).url, { headers: { 'X-Key': 'secret' } });
      await connection.start();
      expect(connection.state).toBe('failed');
      expect(connection.reason).toMatch(/edirect to http:\/\/(127\.0\.0\.1|localhost):\d+\/latest\/meta-data/);
      expect(connection.reason).not.toContain('secret');
    }
    expect(seen).toEqual([]);
    const real = await httpServer();
    const moved = createServer((request, response) => {
      if (request.url === '/old') response.writeHead(307, { location: '/mcp' }).end();
      else response.writeHead(404).end('this is the new place');
    });
    await new Promise<void>((done) => moved.listen(0, '127.0.0.1', done));
    onTestFinished(() => void moved.close());
    const { connection } = connect(`http://127.0.0.1:${(moved.address() as AddressInfo).port}/old`, { type: 'http' });
    await connection.start();
    expect(connection.reason).toContain('this is the new place');
    await real.end();
  });

  it.each([
    ['500', /HTTP 500: not today/],
    ['403', /HTTP 403: not today/],
    ['404', /HTTP 404: not today/],
  ])('fails with the answer of the server: %s', async (status, reason) => {
    const { connection } = connect((await httpServer('--refuse', status)).url);
    await connection.start();
    expect(connection.state).toBe('failed');
    expect(connection.reason).toMatch(reason);
  });
});

describe('a server that asks for a pause', () => {
  const inAMinute = () => new Date(Date.now() + 60_000).toUTCString();

  it.each([
    ['429', () => '7', 7, 'RATE_LIMITED'],
    ['503', inAMinute, 60, 'UPSTREAM_UNAVAILABLE'],
  ])('gets its pause at a start and in a call: HTTP %s', async (status, words, seconds, code) => {
    const { url } = await httpServer('--refuse', status, '--retry-after', words());
    const near = (value: number | undefined) => Math.abs((value ?? 0) - seconds) < 15;
    const { connection } = connect(url, { type: 'http' });
    const failed = await connection.call('echo', {}, WAIT).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(NotDispatchedError);
    expect(near((failed as NotDispatchedError).retryAfterSeconds)).toBe(true);
    const client = new UpstreamClient();
    onTestFinished(() => client.close());
    const transport = httpUpstream({ url, kind: 'http', auth: authByHeaders({}) });
    const refused = await client.connect(transport, { onClose: () => undefined }, 20_000).catch((error) => error);
    expect(refused).toMatchObject({ failure: 'error', code: Number(status) });
    // The classification that dispatch uses.
    expect(classified(refused)).toMatchObject({ code, retryable: true });
    expect(near(classified(refused).retryAfter)).toBe(true);
    expect(near(classified(failed).retryAfter)).toBe(true);
  });

  it('is retried at the usual pace if it names no time', async () => {
    const { connection } = connect((await httpServer('--refuse', '429', '--retry-after', 'soon')).url);
    const failed = (await connection.call('echo', {}, WAIT).catch((error: unknown) => error)) as NotDispatchedError;
    expect(failed.message).toMatch(/HTTP 429/);
    expect(failed.retryAfterSeconds).toBeUndefined();
  });
});

describe('the time limits of a connection over HTTP', () => {
  const open = (url: string, kind: 'http' | 'sse', headTimeoutMs = 300) => {
    const client = new UpstreamClient();
    const transport = httpUpstream({ url, kind, auth: authByHeaders({}), headTimeoutMs });
    onTestFinished(() => client.close());
    return { client, connected: client.connect(transport, { onClose: () => undefined }, 20_000) };
  };

  it.each([
    ['a response head that never arrives', 'http', ['--slow-head', '60000'], /no response head within 0\.3 s/],
    ['a late response head', 'sse', ['--kind', 'sse', '--slow-head', '60000'], /within 0\.3 s/],
    ['a stream that never begins', 'sse', ['--kind', 'sse', '--mute'], /no stream within 0\.3 s/],
  ] as const)('end %s (%s)', async (_what, kind, flags, words) => {
    const { url } = await httpServer(...flags);
    await expect(open(url, kind).connected).rejects.toMatchObject({
      failure: 'timeout',
      message: expect.stringMatching(words),
    });
  });

  it('give a call the time it needs', async () => {
    const { url } = await httpServer('--kind', 'json');
    // On a busy machine the head of an answer may also take a while.
    const { client, connected } = open(url, 'http', 3_000);
    await connected;
    // An argument named `method` is not the method of the request.
    expect(textOf(await client.callTool('wait', { ms: 3_600, method: 'initialize' }, WAIT))).toBe('waited');
  });

  it('end a connection that is not accepted', async () => {
    const deaf = createTcpServer();
    await new Promise<void>((done) => deaf.listen(0, '127.0.0.1', done));
    onTestFinished(() => void deaf.close());
    const url = `http://127.0.0.1:${(deaf.address() as AddressInfo).port}/mcp`;
    await expect(open(url, 'http').connected).rejects.toMatchObject({ failure: 'timeout' });
  });
});

it('a link that is closed while it starts sends nothing', async () => {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.writeHead(500).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const config = { name: 'one', type: 'http', url: `http://127.0.0.1:${port}/mcp`, headers: {} } as HttpServerConfig;
  const link = new HttpLink(config, { onLost: () => undefined } as never);
  const connecting = link.connect({} as never, 5_000);
  await link.close();
  await expect(connecting).rejects.toThrow('It was stopped while it started.');
  expect(requests).toBe(0);
});
