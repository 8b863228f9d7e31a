import type { HttpServerConfig, ServerConfig } from '../../config/gatewayConfig.ts';
import { OAuthSession } from '../../mcp/oauth/oauthSession.ts';
import type { PendingSignIn } from '../../mcp/oauth/signIn.ts';
import { SignInError } from '../../mcp/oauth/signInError.ts';
import type { TokenStore } from '../../mcp/oauth/tokenStore.ts';
import type { ConnectionState, ServerConnection } from './serverConnection.ts';

export { SignInError } from '../../mcp/oauth/signInError.ts';

/** The person's standing with each server at a URL, over all its connections, and the sign-ins that are under way. */
export class SignIns {
  readonly #store: TokenStore;
  readonly #sessions = new Map<string, { settings: string; session: OAuthSession }>();
  readonly #pending = new Map<string, PendingSignIn>();
  /** How the last sign-in of a server ended; `undefined` is well. */
  readonly #ends = new Map<string, Promise<string | undefined>>();

  constructor(store: TokenStore) {
    this.#store = store;
  }

  /** `config` with its references followed. None where the configuration brings a token of its own. */
  sessionFor(config: HttpServerConfig): OAuthSession | undefined {
    if (Object.keys(config.headers).some((name) => name.toLowerCase() === 'authorization')) {
      this.#sessions.delete(config.name);
      return undefined;
    }
    const wanted = { url: config.url, ...config.auth };
    const settings = JSON.stringify(wanted);
    const known = this.#sessions.get(config.name);
    if (known?.settings === settings) return known.session;
    const session = new OAuthSession(config.name, wanted, this.#store);
    this.#sessions.set(config.name, { settings, session });
    return session;
  }

  /** Whether a server that has refused us may be asked again: with a token that it has not seen. */
  async mayTry({ name }: ServerConfig): Promise<boolean> {
    return (await this.#sessions.get(name)?.session.mayTry()) ?? false;
  }

  /** The address that the person's browser is to open. A second question is answered with the same. */
  async begin(connection: ServerConnection): Promise<string> {
    const { name } = connection.config;
    const underWay = this.#pending.get(name);
    if (underWay) return underWay.url;
    const session = await this.#sessionOf(connection);
    const pending = await session.signIn();
    const other = this.#pending.get(name);
    if (other) {
      pending.cancel();
      return other.url;
    }
    this.#pending.set(name, pending);
    const end = pending.grant
      .then(
        () => undefined,
        (error: Error) => error.message,
      )
      .finally(() => this.#pending.delete(name))
      .then(async (reason) => {
        if (reason === undefined) await connection.refresh();
        return reason;
      });
    this.#ends.set(name, end);
    return pending.url;
  }

  /** Resolves when the server's sign-in has ended: to why it failed, or to nothing. */
  async ended(name: string): Promise<string | undefined> {
    return this.#ends.has(name) ? this.#ends.get(name) : `Nobody is signing in to "${name}".`;
  }

  /** Resolves to whether somebody was signed in. */
  async signOut(connection: ServerConnection, config: HttpServerConfig): Promise<boolean> {
    const wasSignedIn = (await this.sessionFor(config)?.signOut()) ?? false;
    if (wasSignedIn) await connection.signedOut();
    return wasSignedIn;
  }

  stop(): void {
    for (const pending of this.#pending.values()) pending.cancel();
  }

  /** What a server asks for it tells when it refuses us: so it is asked first. */
  async #sessionOf(connection: ServerConnection): Promise<OAuthSession> {
    const { name, type } = connection.config;
    if (type === 'stdio') throw new SignInError(`"${name}" is a program; it has no sign-in of Waygate's.`);
    const isRefused = connection.state === 'needs_sign_in' || this.#sessions.get(name)?.session.lack === 'scope';
    if (!isRefused) {
      const state = await startedState(connection);
      if (state === 'ready') {
        throw new SignInError(`"${name}" lets us in already. To sign in as somebody else, first run: waygate logout.`);
      }
      if (state !== 'needs_sign_in') throw new SignInError(connection.reason ?? `"${name}" is not running.`);
    }
    const session = this.#sessions.get(name)?.session;
    if (!session) throw new SignInError(connection.reason ?? `"${name}" has a token of its own in "headers".`);
    return session;
  }
}

async function startedState(connection: ServerConnection): Promise<ConnectionState> {
  await connection.start();
  return connection.state;
}
