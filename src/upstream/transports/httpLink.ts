import type { HttpServerConfig } from '../../config/gatewayConfig.ts';
import type { OAuthSession } from '../../mcp/oauth/oauthSession.ts';
import { authAboveHeaders, authByHeaders } from '../../mcp/wire/upstreamAuth.ts';
import { UpstreamClient, type UpstreamClientOptions, UpstreamRequestError } from '../../mcp/wire/upstreamClient.ts';
import { oneLine } from '../../text/porcelain.ts';
import { describeRequestError, type LinkEvents, LinkFailure, startFault, type UpstreamLink } from './upstreamLink.ts';

/**
 * Status codes with which a server of the older HTTP+SSE transport answers a POST of `initialize` (MCP, Backwards
 * Compatibility).
 */
const OLDER_SERVER: ReadonlySet<number | undefined> = new Set([400, 404, 405]);
const MAX_REASON_CHARS = 300;

/** Link to a server at a URL, over Streamable HTTP or, if the server does not know it, the older HTTP+SSE. */
export class HttpLink implements UpstreamLink {
  readonly pid = undefined;
  readonly stderr: readonly string[] = [];
  readonly #config: HttpServerConfig;
  readonly #events: LinkEvents;
  readonly #session: OAuthSession | undefined;
  #client: UpstreamClient | undefined;
  #timeoutMs = 0;
  #over = false;
  #greeted = false;

  /** Without `session`, the configured headers are the only authorisation. */
  constructor(config: HttpServerConfig, events: LinkEvents, session?: OAuthSession) {
    this.#config = config;
    this.#events = events;
    this.#session = session;
  }

  async connect(options: UpstreamClientOptions, timeoutMs: number): Promise<UpstreamClient> {
    this.#timeoutMs = timeoutMs;
    const { type } = this.#config;
    if (type === 'sse') return this.#open(type, options);
    try {
      return await this.#open('http', options);
    } catch (error) {
      const refused = error instanceof UpstreamRequestError && OLDER_SERVER.has(error.code);
      if (!refused || this.#over) throw error;
      // If the server supports neither transport, the error of the newer one is the better reason.
      return this.#open('sse', options).catch((second: unknown) => {
        throw second instanceof UpstreamRequestError && second.failure === 'unauthorized' ? second : error;
      });
    }
  }

  async explain(error: unknown): Promise<LinkFailure> {
    if (error instanceof LinkFailure) return error;
    if (!(error instanceof UpstreamRequestError))
      return new LinkFailure(describeRequestError(error, this.#timeoutMs, this.#events.scrubSecrets));
    const { origin } = new URL(this.#config.url);
    const code = startFault(error, this.#greeted);
    const words = oneLine(this.#events.scrubSecrets(error.message), MAX_REASON_CHARS);
    switch (error.failure) {
      case 'unauthorized':
        return new LinkFailure(this.#signInReason(), 'unauthorized');
      case 'unsent':
        return new LinkFailure(`${origin} could not be reached (${words}).`, code);
      case 'closed':
        return new LinkFailure(`The connection to ${origin} broke off (${words}).`, code);
      case 'timeout':
        return new LinkFailure(`${origin} did not answer in time: ${words}.`, code);
      default:
        return new LinkFailure(
          describeRequestError(error, this.#timeoutMs, this.#events.scrubSecrets),
          code,
          error.retryAfterSeconds,
        );
    }
  }

  async close(): Promise<void> {
    this.#over = true;
    await this.#client?.close();
  }

  async #open(kind: 'http' | 'sse', options: UpstreamClientOptions): Promise<UpstreamClient> {
    // Loaded with the first server that has a URL: these transports and what they need of Node take half a megabyte.
    const { httpUpstream } = await import('../../mcp/wire/http/httpUpstream.ts');
    if (this.#over) throw new LinkFailure('It was stopped while it started.');
    const client = new UpstreamClient(options);
    this.#client = client;
    const { url, headers } = this.#config;
    const auth = this.#session ? authAboveHeaders(headers, this.#session) : authByHeaders(headers);
    const transport = httpUpstream({ url, kind, auth, oddities: options.oddities });
    let connected = false;
    const onClose = (): void => {
      if (!connected || this.#over) return;
      this.#over = true;
      this.#events.onLost(`The connection to ${new URL(url).origin} was lost.`, 'connection_lost');
    };
    try {
      await client.connect(transport, { onClose }, this.#timeoutMs, kind === 'http' ? 'discover' : 'only_initialize');
      connected = true;
      this.#greeted = true;
      return client;
    } catch (error) {
      this.#client = undefined;
      await client.close();
      throw error;
    }
  }

  #signInReason(): string {
    if (!this.#session)
      return 'It refused the Authorization in "headers": the token may have expired or been revoked; set a new one.';
    switch (this.#session.lack) {
      case 'sign_in':
        return 'It asks for a sign-in.';
      case 'renewal':
        return 'Its sign-in has expired or was revoked. Sign in again.';
      case 'scope':
        return 'It requires more permission than the sign-in granted. Sign in again.';
    }
  }
}
