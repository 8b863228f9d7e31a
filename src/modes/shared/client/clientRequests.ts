import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST } from '../../../errors/rpcCodes.ts';
import { RpcError } from '../../../errors/rpcError.ts';
import { relatedTask, relateTo } from '../../../mcp/mcpTask.ts';
import type { CallContext, ClientPeer, SessionMode } from '../../../mcp/session/sessionMode.ts';
import { scrubValue } from '../../../secrets/scrubValue.ts';
import { OWN_BUSINESS } from '../../../upstream/connection/callOrigin.ts';
import type { ServerConnection } from '../../../upstream/connection/serverConnection.ts';
import { SessionCall } from '../sessionCall.ts';
import { missingCapability } from './clientCapabilities.ts';
import { isLevel, LogLevels } from './logLevels.ts';

type Params = Record<string, unknown>;

export interface ClientRequestsOptions {
  /** The folder that `roots/list` is answered with where no client can be asked. */
  workspace: string;
  connections(): readonly ServerConnection[];
  log(line: string): void;
}

/** How long a client may take: a person may be away, a model thinks, a folder is known at once. */
const TIME_LIMITS_MS: Readonly<Record<string, number>> = {
  'elicitation/create': 10 * 60_000,
  'sampling/createMessage': 5 * 60_000,
  'roots/list': 10_000,
};
/** A call that waits for its client is not late: said well within the shortest deadline there is. */
const STILL_WORKING_MS = 200;
const MAX_ELICITATIONS = 1_000;

/**
 * What servers ask their clients: elicitation, sampling, roots, and what they log. It goes to the session whose call is
 * under way at that server and never to another's. A message that names a task goes to the call that runs it. Else,
 * over Streamable HTTP, the stream tells whose it is; on stdio nothing does, so there it is passed on only where one
 * session alone has calls under way.
 */
export class ClientRequests {
  readonly #options: ClientRequestsOptions;
  readonly #levels = new LogLevels();
  readonly #sessions = new Map<object, ClientPeer>();
  /** Who was sent to a URL, by the elicitation's id. */
  readonly #elicitations = new Map<string, ClientPeer>();

  constructor(options: ClientRequestsOptions) {
    this.#options = options;
  }

  /** Runs what asks servers on behalf of a call; what they ask back ends with it. */
  async during<T>(call: CallContext, run: (origin: SessionCall) => Promise<T>): Promise<T> {
    const origin = new SessionCall(call.peer);
    try {
      return await run(origin);
    } finally {
      origin.end();
    }
  }

  /** Answers what a server asks. To be called before its first start. */
  attach(connection: ServerConnection): void {
    const ask = (method: string) => (params: Params, signal: AbortSignal, related?: object) =>
      this.#ask(connection, method, params, signal, related);
    connection.setRequestHandler('elicitation/create', ask('elicitation/create'), {
      elicitation: { form: {}, url: {} },
    });
    connection.setRequestHandler('sampling/createMessage', ask('sampling/createMessage'), { sampling: {} });
    connection.setRequestHandler(
      'roots/list',
      (params, signal, related) => this.#roots(connection, params, signal, related),
      { roots: { listChanged: true } },
    );
    connection.onNotification(
      'notifications/message',
      (params, related) => void this.#onLog(connection, params, related),
    );
    connection.onNotification('notifications/elicitation/complete', (params) => this.#onElicited(params));
    connection.onReady(() => this.#levels.apply(connection));
  }

  /** The same mode, with what all modes do for their clients' sessions. */
  serve(mode: SessionMode): SessionMode {
    return {
      ...mode,
      request: (method, params, call) =>
        method === 'logging/setLevel' ? this.#setLevel(params, call) : mode.request?.(method, params, call),
      notification: (method, params, peer) => {
        if (method === 'notifications/roots/list_changed') this.#onRootsChanged();
        else mode.notification?.(method, params, peer);
      },
      open: (peer) => {
        const close = mode.open?.(peer);
        this.#sessions.set(peer.session, peer);
        return () => {
          close?.();
          this.#sessions.delete(peer.session);
          this.#levels.forget(peer.session);
        };
      },
    };
  }

  /** The person is sent to a URL by an error of the server's: whose completion is told belongs to them. */
  expectElicitations(ids: readonly string[], peer: ClientPeer | undefined): void {
    if (!peer) return;
    for (const id of ids) this.#elicitations.set(id, peer);
    for (const oldest of this.#elicitations.keys()) {
      if (this.#elicitations.size <= MAX_ELICITATIONS) break;
      this.#elicitations.delete(oldest);
    }
  }

  async #ask(
    connection: ServerConnection,
    method: string,
    params: Params,
    signal: AbortSignal,
    related: object | undefined,
  ): Promise<Params> {
    const found = await this.#callAt(connection, params, related);
    if (found === 'none') {
      throw new RpcError(INVALID_REQUEST, `${method} outside of a call: there is no client that it belongs to.`);
    }
    if (found === 'several') {
      throw new RpcError(
        INVALID_REQUEST,
        `${method} cannot be answered: several clients have calls under way at this server, and nothing tells whose this belongs to.`,
      );
    }
    const { peer } = found;
    if (!peer) throw new RpcError(INVALID_REQUEST, `${method} cannot be answered: no MCP client has made this call.`);
    const missing = missingCapability(method, params, peer.capabilities);
    if (missing) throw missing;
    if (typeof params.elicitationId === 'string') this.expectElicitations([params.elicitationId], peer);
    return this.#forward(connection, method, params, found, signal);
  }

  /** Nobody's secret: where no client can be asked, the folder is that of the workspace they all are in. */
  async #roots(
    connection: ServerConnection,
    params: Params,
    signal: AbortSignal,
    related: object | undefined,
  ): Promise<Params> {
    const found = await this.#callAt(connection, params, related);
    if (found instanceof SessionCall && found.peer?.capabilities.roots) {
      return this.#forward(connection, 'roots/list', params, found, signal);
    }
    const { workspace } = this.#options;
    return { roots: [{ uri: pathToFileURL(workspace).href, name: basename(workspace) }] };
  }

  async #forward(
    connection: ServerConnection,
    method: string,
    params: Params,
    call: SessionCall,
    signal: AbortSignal,
  ): Promise<Params> {
    const peer = call.peer as ClientPeer;
    const timer = setInterval(() => call.stillWorking?.(), STILL_WORKING_MS);
    const task = relatedTask(params);
    // The client has called a plain tool: the task is between the gateway and the server.
    const { _meta: given, ...rest } = relateTo(undefined, params);
    const { progressToken, ...meta } = (given ?? {}) as Params;
    try {
      const answer = await peer.request(method, Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta }, {
        timeoutMs: TIME_LIMITS_MS[method] as number,
        signal: AbortSignal.any([signal, call.over]),
        ...(progressToken === undefined
          ? {}
          : {
              onProgress: (progress) =>
                void connection.notify('notifications/progress', { ...progress, progressToken }).catch(() => undefined),
            }),
      });
      return task === undefined ? answer : relateTo(task, answer);
    } catch (error) {
      throw asRpcError(error);
    } finally {
      clearInterval(timer);
      call.stillWorking?.();
    }
  }

  /** The call that a server's own message belongs to. */
  async #callAt(
    connection: ServerConnection,
    params: Params,
    related: object | undefined,
  ): Promise<SessionCall | 'none' | 'several'> {
    const task = relatedTask(params);
    // A message that names a task never goes to another call, even when the caller of that task has gone.
    return task === undefined
      ? this.#plainCallAt(connection, related)
      : ((await callOfTask(connection, task)) ?? 'none');
  }

  #plainCallAt(connection: ServerConnection, related: object | undefined): SessionCall | 'none' | 'several' {
    if (related instanceof SessionCall) return related.over.aborted ? 'none' : related;
    if (related === OWN_BUSINESS) return 'none';
    const calls = connection.origins;
    const sessions = new Set(calls.map((origin) => origin.session ?? origin));
    if (sessions.size > 1) return 'several';
    const newest = calls.at(-1);
    return newest instanceof SessionCall ? newest : 'none';
  }

  async #onLog(connection: ServerConnection, params: Params, related: object | undefined): Promise<void> {
    const task = relatedTask(params);
    const peer =
      task === undefined ? this.#listenerAt(connection, related) : (await callOfTask(connection, task))?.peer;
    if (!peer || !this.#levels.admits(peer.session, params.level)) return;
    // A log is read in other places than an answer, and kept there: whatever may stand in results, no secret stands in it.
    peer.notify('notifications/message', relateTo(undefined, scrubValue(params) as Params));
  }

  #listenerAt(connection: ServerConnection, related: object | undefined): ClientPeer | undefined {
    const found = this.#plainCallAt(connection, related);
    if (found instanceof SessionCall) return found.peer;
    if (found === 'several') return undefined;
    // Beside all calls: what the server has to say is of the doing of whoever has called it.
    const { onlyCaller } = connection;
    return onlyCaller && this.#sessions.get(onlyCaller);
  }

  #onElicited(params: Params): void {
    const id = String(params.elicitationId);
    const peer = this.#elicitations.get(id);
    this.#elicitations.delete(id);
    if (peer) (this.#sessions.get(peer.session) ?? peer).notify('notifications/elicitation/complete', params);
  }

  async #setLevel({ level }: Readonly<Params>, { peer }: CallContext): Promise<object> {
    if (!isLevel(level))
      throw new RpcError(INVALID_PARAMS, 'The level must be one of those of MCP, debug to emergency.');
    if (peer) this.#levels.set(peer.session, level);
    for (const connection of this.#options.connections()) this.#levels.apply(connection);
    return {};
  }

  #onRootsChanged(): void {
    for (const connection of this.#options.connections()) {
      void connection.notify('notifications/roots/list_changed').catch((error: Error) => {
        this.#options.log(`${connection.config.name}: it was not told that the roots have changed: ${error.message}`);
      });
    }
  }
}

/** Returns the call that runs a task, while that call waits for its answer. */
async function callOfTask(connection: ServerConnection, taskId: string): Promise<SessionCall | undefined> {
  const find = (): SessionCall | undefined => {
    const found = connection.origins.find((origin) => origin.taskId === taskId);
    return found instanceof SessionCall && !found.over.aborted ? found : undefined;
  };
  const known = find();
  if (known) return known;
  // The answer that names the task may have arrived together with this message, and be on its way to the call.
  await new Promise((resolve) => setImmediate(resolve));
  return find();
}

/** What the client answered with goes on as it came; what went wrong on the way is told in a sentence. */
function asRpcError(error: unknown): RpcError {
  const { code, message, data } = error as { code?: unknown; message?: string; data?: unknown };
  const words = String(message).replace(/^MCP error -?\d+: /, '');
  return new RpcError(Number.isSafeInteger(code) ? (code as number) : INTERNAL_ERROR, words, data);
}
