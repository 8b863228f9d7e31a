import type { HttpServerConfig, ServerConfig } from '../../config/gatewayConfig.ts';
import { OAuthSession } from '../../mcp/oauth/oauthSession.ts';
import type { PendingSignIn } from '../../mcp/oauth/signIn.ts';
import { SignInError } from '../../mcp/oauth/signInError.ts';
import type { TokenStore } from '../../mcp/oauth/tokenStore.ts';
import type { ConnectionState, ServerConnection } from './serverConnection.ts';

export { SignInError } from '../../mcp/oauth/signInError.ts';

/** Returns the name under which tokens are kept. A workspace gets none of the user's own server of the same name. */
function ownerOf({ name, origin, location }: HttpServerConfig): string {
  return origin === 'user' || origin === 'given' ? name : `${location.file} ${name}`;
}

/** Manages OAuth sessions per HTTP server, over all its connections, and the running sign-ins. */
export class SignIns {
  readonly #store: TokenStore;
  readonly #sessions = new Map<string, { settings: string; session: OAuthSession }>();
  readonly #pending = new Map<string, { session: OAuthSession; signIn: PendingSignIn }>();
  /** Outcome of each server's last sign-in: an error message, or `undefined` for success. */
  readonly #ends = new Map<string, Promise<string | undefined>>();

  constructor(store: TokenStore) {
    this.#store = store;
  }

  /**
   * Returns the session for a configuration with resolved references; `undefined` if the configuration has a token of
   * its own.
   */
  sessionFor(config: HttpServerConfig): OAuthSession | undefined {
    if (Object.keys(config.headers).some((name) => name.toLowerCase() === 'authorization')) {
      this.#sessions.delete(config.name);
      return undefined;
    }
    const wanted = { url: config.url, ...config.auth };
    const owner = ownerOf(config);
    const settings = JSON.stringify([owner, wanted]);
    const known = this.#sessions.get(config.name);
    if (known?.settings === settings) return known.session;
    const session = new OAuthSession(owner, wanted, this.#store);
    this.#sessions.set(config.name, { settings, session });
    return session;
  }

  /** Reports whether to retry a server that refused the last token: only with a token that it has not seen. */
  async mayTry({ name }: ServerConfig): Promise<boolean> {
    return (await this.#sessions.get(name)?.session.mayTry()) ?? false;
  }

  /**
   * Returns the address to open in the user's browser; a repeated call returns the same address. An edit of the entry
   * makes another connection, with another session if the address changed: `current` returns it.
   */
  async begin(
    connection: ServerConnection,
    current: () => ServerConnection | undefined = () => connection,
  ): Promise<string> {
    const { name } = connection.config;
    const underWay = this.#pending.get(name);
    if (underWay && underWay.session === this.#sessions.get(name)?.session) return underWay.signIn.url;
    underWay?.signIn.cancel();
    const session = await this.#sessionOf(connection);
    const pending = await session.signIn();
    const other = this.#pending.get(name);
    if (other?.session === session) {
      pending.cancel();
      return other.signIn.url;
    }
    this.#pending.set(name, { session, signIn: pending });
    const end = pending.grant
      .then(
        () => undefined,
        (error: Error) => error.message,
      )
      .finally(() => {
        if (this.#pending.get(name)?.signIn === pending) this.#pending.delete(name);
      })
      .then(async (reason) => {
        if (reason === undefined) await (current() ?? connection).refresh();
        return reason;
      });
    this.#ends.set(name, end);
    return pending.url;
  }

  /** Resolves at the end of a sign-in: to an error message, or to `undefined` for success. */
  async ended(name: string): Promise<string | undefined> {
    return this.#ends.has(name) ? this.#ends.get(name) : `No sign-in to "${name}" is running.`;
  }

  /** Signs out; resolves to false if there was no sign-in. */
  async signOut(connection: ServerConnection, config: HttpServerConfig): Promise<boolean> {
    const wasSignedIn = (await this.sessionFor(config)?.signOut()) ?? false;
    if (wasSignedIn) await connection.signedOut();
    return wasSignedIn;
  }

  /** Whether the user is signed in to a server; undefined if nothing is known. */
  isSignedIn(name: string): boolean | undefined {
    return this.#sessions.get(name)?.session.isSignedIn;
  }

  stop(): void {
    for (const { signIn } of this.#pending.values()) signIn.cancel();
  }

  /** Returns the session of a server. Contacts the server first, because only its refusal names the requirements. */
  async #sessionOf(connection: ServerConnection): Promise<OAuthSession> {
    const { name, type } = connection.config;
    if (type === 'stdio') throw new SignInError(`"${name}" is a local program; Waygate has no sign-in for it.`);
    const isRefused = connection.state === 'needs_sign_in' || this.#sessions.get(name)?.session.lack === 'scope';
    if (!isRefused) {
      const state = await startedState(connection);
      if (state === 'ready') {
        throw new SignInError(`"${name}" is ready without a new sign-in. To sign in as another user, sign out first.`);
      }
      if (state !== 'needs_sign_in') throw new SignInError(connection.reason ?? `"${name}" is not running.`);
    }
    const session = this.#sessions.get(name)?.session;
    if (!session)
      throw new SignInError(connection.reason ?? `"${name}" uses the token in "headers"; remove that to sign in.`);
    return session;
  }
}

async function startedState(connection: ServerConnection): Promise<ConnectionState> {
  await connection.start();
  return connection.state;
}
