import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface AuthorizationServerOptions {
  /** Lifetime of an access token in seconds. */
  expiresIn?: number;
  /** Overrides of its metadata (RFC 8414); `undefined` removes a field. `{here}` is its own address. */
  metadata?: Record<string, unknown>;
  /** Publishes its metadata like OpenID Connect. */
  openId?: boolean;
  /** Answer to the browser instead of a code. */
  refuse?: string;
  /** Overrides of the query that the browser brings back. */
  redirect?: Record<string, string>;
  /** Known client; no other client can register. */
  client?: { id: string; secret: string };
  /** Access token that it issues, instead of a random one. */
  accessToken?: string;
  /** Has no metadata, as servers of MCP 2025-03-26 may. */
  silent?: boolean;
}

interface Issued {
  aud: string;
  scope: string;
  expiresAt: number;
}

/**
 * Real authorization server: codes with PKCE, registration, rotation of refresh tokens, introspection, revocation.
 * Independent of a test runner, because the tests inside VS Code use it too.
 */
export class AuthorizationServer {
  /** Method and path of every request, in order. */
  readonly seen: string[] = [];
  /** Form of every token request. */
  readonly tokenRequests: Record<string, string>[] = [];
  /** Query of every authorization request. */
  readonly authorizations: Record<string, string>[] = [];
  /** Every `Authorization` header, with its path. */
  readonly credentials: string[] = [];
  readonly #options: AuthorizationServerOptions;
  readonly #http = createServer((request, response) => void this.#answer(request, response));
  readonly #clients = new Map<string, { redirect_uris: string[] }>();
  readonly #codes = new Map<string, Record<string, string>>();
  readonly #access = new Map<string, Issued>();
  readonly #refresh = new Map<string, Omit<Issued, 'expiresAt'>>();
  /** Every issued token. */
  readonly issued: string[] = [];
  issuer = '';
  /** Status with which it answers token requests. */
  outage: number | undefined;
  /** Text of that answer. */
  outageWords: string | undefined;

  private constructor(options: AuthorizationServerOptions) {
    this.#options = options;
  }

  static async start(options: AuthorizationServerOptions = {}): Promise<AuthorizationServer> {
    const server = new AuthorizationServer(options);
    await new Promise<void>((done) => server.#http.listen(0, '127.0.0.1', done));
    server.issuer = `http://127.0.0.1:${(server.#http.address() as AddressInfo).port}`;
    return server;
  }

  close(): void {
    this.#http.close();
    this.#http.closeAllConnections();
  }

  /** Invalidates all access tokens; refresh tokens stay valid. */
  expireAll(): void {
    this.#access.clear();
  }

  revokeAll(): void {
    this.#access.clear();
    this.#refresh.clear();
  }

  get refreshes(): number {
    return this.tokenRequests.filter((form) => form.grant_type === 'refresh_token').length;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url as string, this.issuer);
    if (pathname !== '/introspect') this.seen.push(`${request.method} ${pathname}`);
    if (request.headers.authorization) this.credentials.push(`${pathname} ${request.headers.authorization}`);
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      // Do not wait for a client that closes in the middle of a request.
      return;
    }
    const body = Buffer.concat(chunks).toString();
    const json = (status: number, content: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content));
    };
    const metadataPath = `/.well-known/${this.#options.openId ? 'openid-configuration' : 'oauth-authorization-server'}`;
    switch (pathname) {
      case metadataPath:
        return this.#options.silent ? json(404, {}) : json(200, this.#metadata());
      case '/register':
        return this.#options.client ? json(404, {}) : json(201, this.#register(JSON.parse(body)));
      case '/authorize':
        return this.#authorize(Object.fromEntries(searchParams), response);
      case '/token':
        return this.#token(request, Object.fromEntries(new URLSearchParams(body)), json);
      case '/introspect':
        return json(200, this.#introspect(searchParams.get('token') ?? ''));
      case '/revoke':
        this.#refresh.delete(new URLSearchParams(body).get('token') ?? '');
        this.#access.clear();
        return json(200, {});
      default:
        return json(404, {});
    }
  }

  #metadata(): object {
    const metadata = {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      ...(this.#options.client ? {} : { registration_endpoint: `${this.issuer}/register` }),
      revocation_endpoint: `${this.issuer}/revoke`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      ...(this.#options.openId
        ? {
            jwks_uri: `${this.issuer}/jwks`,
            subject_types_supported: ['public'],
            id_token_signing_alg_values_supported: ['RS256'],
          }
        : {}),
      ...this.#options.metadata,
    };
    return JSON.parse(JSON.stringify(metadata).replaceAll('{here}', this.issuer)) as object;
  }

  #register(wanted: { redirect_uris: string[] }): object {
    const client_id = randomUUID();
    this.#clients.set(client_id, wanted);
    return { ...wanted, client_id };
  }

  /** The user consents at once. */
  #authorize(query: Record<string, string>, response: ServerResponse): void {
    this.authorizations.push(query);
    const { client_id = '', redirect_uri = '', state = '', code_challenge_method } = query;
    const registered = this.#clients.get(client_id)?.redirect_uris.includes(redirect_uri);
    const known = registered || client_id === this.#options.client?.id || client_id.startsWith('https://');
    if (!known || code_challenge_method !== 'S256') {
      response.writeHead(400).end('unknown client, or no PKCE');
      return;
    }
    const code = randomUUID();
    this.#codes.set(code, query);
    const target = new URL(redirect_uri);
    const { refuse, redirect } = this.#options;
    target.search = String(new URLSearchParams({ ...(refuse ? { error: refuse } : { code }), state, ...redirect }));
    response.writeHead(302, { location: target.href }).end();
  }

  #token(
    request: IncomingMessage,
    form: Record<string, string>,
    answer: (status: number, content: unknown) => void,
  ): void {
    const { status, content } = this.#tokenAnswer(request, form);
    answer(status, content);
  }

  #tokenAnswer(request: IncomingMessage, form: Record<string, string>): { status: number; content: unknown } {
    const json = (status: number, content: unknown) => ({ status, content });
    this.tokenRequests.push(form);
    if (this.outage !== undefined) {
      const { outageWords: words } = this;
      return json(this.outage, words ? { error: 'temporarily_unavailable', error_description: words } : {});
    }
    const { client } = this.#options;
    if (client) {
      const basic = `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`;
      if (request.headers.authorization !== basic) return json(401, { error: 'invalid_client' });
    }
    const refused = () => json(400, { error: 'invalid_grant' });
    if (form.grant_type === 'refresh_token') {
      const grant = this.#refresh.get(form.refresh_token ?? '');
      // Valid only once.
      this.#refresh.delete(form.refresh_token ?? '');
      return grant ? json(200, this.#issue(grant.aud, grant.scope)) : refused();
    }
    const asked = this.#codes.get(form.code ?? '');
    this.#codes.delete(form.code ?? '');
    const challenge = createHash('sha256')
      .update(form.code_verifier ?? '')
      .digest('base64url');
    const matches = asked?.code_challenge === challenge && asked.redirect_uri === form.redirect_uri;
    if (!asked || !matches || asked.resource !== form.resource) return refused();
    return json(200, this.#issue(asked.resource ?? '', asked.scope ?? ''));
  }

  #issue(aud: string, scope: string): object {
    const [access_token, refresh_token] = [this.#options.accessToken ?? randomUUID(), randomUUID()];
    this.issued.push(access_token, refresh_token);
    const expires_in = this.#options.expiresIn ?? 3600;
    this.#access.set(access_token, { aud, scope, expiresAt: Date.now() + expires_in * 1000 });
    this.#refresh.set(refresh_token, { aud, scope });
    return { access_token, refresh_token, expires_in, token_type: 'Bearer', scope };
  }

  #introspect(token: string): object {
    const issued = this.#access.get(token);
    return issued && issued.expiresAt > Date.now() ? { active: true, ...issued } : { active: false };
  }
}

/** Opens an address and follows redirects, like a browser. */
export async function browse(url: string): Promise<{ status: number; text: string }> {
  const response = await fetch(url);
  return { status: response.status, text: await response.text() };
}
