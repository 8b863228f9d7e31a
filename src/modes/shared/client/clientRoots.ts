import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ServerConfig } from '../../../config/gatewayConfig.ts';
import { deferred } from '../../../lib/deferred.ts';
import type { ClientPeer } from '../../../mcp/session/sessionMode.ts';
import type { ServerConnection } from '../../../upstream/connection/serverConnection.ts';
import { SessionCall } from '../sessionCall.ts';
import { callOf } from './callOfMessage.ts';

type Params = Record<string, unknown>;
type Offered = Readonly<Record<string, unknown>>;

export interface ClientRootsOptions {
  /** Base of relative folders in `servers.NAME.roots`. */
  workspace: string;
  /** Whether a client may come that the worker was started for. */
  awaitsSession: boolean;
  /** Sends `roots/list` to the client of a call. */
  ask(connection: ServerConnection, params: Params, call: SessionCall, signal: AbortSignal): Promise<Params>;
}

/** Time in which the session opens that a worker was started for. The process of a server starts meanwhile. */
const FIRST_SESSION_MS = 1_000;

/**
 * Roots for servers. Waygate declares them only where the configuration names them or a client has them: many servers
 * replace their configured folders by roots, so a program whose arguments name a folder gets none (M6.3).
 */
export class ClientRoots {
  readonly #options: ClientRootsOptions;
  readonly #peers = new Set<ClientPeer>();
  /** Sessions with roots. */
  readonly #rooted = new WeakSet<object>();
  readonly #firstSession = deferred<void>();
  /** Connections that got the roots of clients at their last start. */
  readonly #following = new WeakSet<ServerConnection>();

  constructor(options: ClientRootsOptions) {
    this.#options = options;
    const waitMs = options.awaitsSession ? FIRST_SESSION_MS : 0;
    setTimeout(() => this.#firstSession.resolve(), waitMs).unref();
  }

  /** Adds a client, before its session waits for any server. Returns the function that removes it. */
  greet(peer: ClientPeer): () => void {
    this.#peers.add(peer);
    this.called(peer);
    this.#firstSession.resolve();
    return () => this.#peers.delete(peer);
  }

  /** Notes a client that declares roots. One of revision 2026-07-28 may do so with any request. */
  called({ capabilities, session }: ClientPeer): void {
    if (capabilities.roots) this.#rooted.add(session);
  }

  /** Returns the capabilities of a call's client, with roots only where the server may learn of them. */
  offer({ config }: ServerConnection, { roots, ...client }: Offered): Offered {
    if (config.roots) return { ...client, roots: {} };
    return roots && !namesFolder(config) ? { ...client, roots } : client;
  }

  /** Returns the capability that a start declares. */
  async capability(connection: ServerConnection): Promise<Record<string, object>> {
    const { config } = connection;
    this.#following.delete(connection);
    if (config.roots) return { roots: {} };
    if (namesFolder(config)) return {};
    await this.#firstSession.promise;
    if (this.#peersOf(connection).length === 0) return {};
    this.#following.add(connection);
    return { roots: { listChanged: true } };
  }

  /** Whether a change of a client's roots concerns the server. */
  followsClients(connection: ServerConnection): boolean {
    return this.#following.has(connection);
  }

  /**
   * Answers `roots/list` with the configured roots, else with those of the client whose call is running. Outside of
   * calls, and where the call is unknown, the answer has the roots of all clients.
   */
  async answer(
    connection: ServerConnection,
    params: Params,
    signal: AbortSignal,
    related: object | undefined,
  ): Promise<Params> {
    const { ask } = this.#options;
    const configured = this.configured(connection);
    if (configured) return configured;
    const found = await callOf(connection, params, related);
    if (found instanceof SessionCall) {
      return found.peer?.capabilities.roots ? ask(connection, params, found, signal) : { roots: [] };
    }
    const answers = this.#peersOf(connection).map((peer) =>
      ask(connection, params, new SessionCall(peer), signal).catch((): Params => ({})),
    );
    const all = (await Promise.all(answers)).flatMap(({ roots: own }): unknown[] => (Array.isArray(own) ? own : []));
    return { roots: [...new Map(all.map((root) => [JSON.stringify(root), root])).values()] };
  }

  /** Returns the roots that the configuration of a server names, if it does. */
  configured({ config: { roots } }: ServerConnection): Params | undefined {
    return roots && { roots: roots.map((folder) => configuredRoot(folder, this.#options.workspace)) };
  }

  /** Clients with roots that may use a connection. */
  #peersOf({ session }: ServerConnection): ClientPeer[] {
    return [...this.#peers].filter(
      (peer) => this.#rooted.has(peer.session) && (session === undefined || peer.session === session),
    );
  }
}

function configuredRoot(folder: string, workspace: string): { uri: string; name: string } {
  if (folder.startsWith('file:')) return { uri: folder, name: basename(folder) };
  const path = resolve(workspace, atHome(folder));
  return { uri: pathToFileURL(path).href, name: basename(path) };
}

/** Whether the arguments of a program name a folder: `/data`, `~/data`, `./data`, `--root=/data`. */
function namesFolder(config: ServerConfig): boolean {
  if (config.type !== 'stdio') return false;
  return config.args.some((arg) => {
    const path = atHome(arg.replace(/^--?[\w-]+=/, ''));
    return /^(\.{1,2}([\\/]|$)|[\\/]|[A-Za-z]:[\\/])/.test(path) && isFolder(resolve(config.cwd, path));
  });
}

const atHome = (path: string): string => path.replace(/^~(?=[\\/]|$)/, homedir);

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
