import { INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND } from '../../../errors/rpcCodes.ts';
import { RpcError } from '../../../errors/rpcError.ts';
import { relatedTask, relateTo } from '../../../mcp/mcpTask.ts';
import { QUESTIONS_METHOD } from '../../../mcp/modern/wire.ts';
import type { CallContext, ClientPeer, SessionMode } from '../../../mcp/session/sessionMode.ts';
import { reportWhenAnswered, type SessionRequest } from '../../../mcp/session/sessionRequest.ts';
import { scrubValue } from '../../../secrets/scrubValue.ts';
import { quoted } from '../../../text/porcelain.ts';
import type { ServerConnection } from '../../../upstream/connection/serverConnection.ts';
import { SessionCall } from '../sessionCall.ts';
import { callOf, callOfTask, plainCallOf } from './callOfMessage.ts';
import { missingCapability } from './clientCapabilities.ts';
import { ClientRoots } from './clientRoots.ts';
import { isLevel, LogLevels } from './logLevels.ts';
import { MAX_PER_CALL, QuestionLimits } from './questionLimits.ts';
import { askTogether } from './questionRound.ts';
import { safeAnswer, safeIcons, traceOf, withMaskedProgress } from './safeAnswer.ts';
import { type AskingServer, elicitation, isLoopback, requiredElicitations, sampling } from './serverQuestion.ts';

type Params = Record<string, unknown>;

/** Makes the question that a client receives of the one that a server sent. */
const QUESTIONS = { 'elicitation/create': elicitation, 'sampling/createMessage': sampling };
type Question = keyof typeof QUESTIONS;

export interface ClientRequestsOptions {
  workspace: string;
  /** Whether the first starts of servers wait a moment for a client. */
  awaitsSession?: boolean;
  connections(): readonly ServerConnection[];
  /** Counts a question of a server, refused ones included. */
  onQuestion?(question: SessionRequest): void;
  /** Returns the error for an answer that must not reach a server. `byUser`: the user typed it for the server. */
  egressRefusal?(server: string, answer: unknown, from: { session: object; byUser: boolean }): Error | undefined;
  log(line: string): void;
}

/** Time limits of clients: the user may be away, a model computes, a folder is known at once. */
const TIME_LIMITS_MS: Readonly<Record<string, number>> = {
  'elicitation/create': 10 * 60_000,
  'sampling/createMessage': 5 * 60_000,
  'roots/list': 10_000,
  [QUESTIONS_METHOD]: 10 * 60_000,
};
/** Interval for extending the deadline of a call that waits for its client; well below the shortest deadline. */
const STILL_WORKING_MS = 200;
const MAX_ELICITATIONS = 1_000;

/**
 * Requests and logs of servers for their clients: elicitation, sampling, roots, log messages. Each goes to the session
 * whose call the server is running, and never to another.
 */
export class ClientRequests {
  readonly #options: ClientRequestsOptions;
  readonly #levels = new LogLevels();
  readonly #limits = new QuestionLimits();
  readonly #sessions = new Map<object, ClientPeer>();
  /** Sessions with an open elicitation by URL, by the elicitation's id. */
  readonly #elicitations = new Map<string, ClientPeer>();
  readonly #roots: ClientRoots;

  constructor(options: ClientRequestsOptions) {
    this.#options = options;
    this.#roots = new ClientRoots({
      workspace: options.workspace,
      awaitsSession: options.awaitsSession ?? true,
      ask: (connection, params, call, signal) => this.#forward(connection, 'roots/list', params, call, signal),
    });
  }

  /** Runs a call. Requests that servers send back end with it. */
  async during<T>(call: CallContext, run: (origin: SessionCall) => Promise<T>): Promise<T> {
    const origin = new SessionCall(call.peer);
    if (call.peer) this.#roots.called(call.peer);
    try {
      return await run(origin);
    } finally {
      origin.end();
    }
  }

  /** Handles requests of a server. Call it before the server's first start. */
  attach(connection: ServerConnection): void {
    const ask = (method: Question) => (params: Params, signal: AbortSignal, related?: object) =>
      this.#count(method, signal, () => this.#ask(connection, method, params, signal, related));
    connection.setRequestHandler('elicitation/create', ask('elicitation/create'), {
      elicitation: { form: {}, url: {} },
    });
    const samples = connection.config.sampling === true;
    connection.setRequestHandler(
      'sampling/createMessage',
      ask('sampling/createMessage'),
      samples ? { sampling: {} } : {},
    );
    connection.setRequestHandler(
      'roots/list',
      (params, signal, related) => this.#roots.answer(connection, params, signal, related),
      () => this.#roots.capability(connection),
    );
    connection.setOffer((client) => this.#roots.offer(connection, client));
    connection.setQuestionsHandler((questions, related, signal) => {
      const call = plainCallOf(connection, related);
      if (!(call instanceof SessionCall) || !call.peer?.takesRounds) return undefined;
      const answering = askTogether(questions, {
        roots: () => this.#roots.configured(connection),
        questionOf: (method, params) => {
          refuseQuestion(connection, method);
          return this.#questionOf(connection, method as Question, params, call);
        },
        begin: (method) => this.#limits.begin(connection.config.name, method, call, { together: true }),
        forward: (requests) => this.#forward(connection, QUESTIONS_METHOD, { requests }, call, signal),
        guard: (method, answer) => this.#guard(connection, method, answer, call.peer as ClientPeer),
      });
      for (const { method } of Object.values(questions)) {
        if (Object.hasOwn(QUESTIONS, method)) this.#count(method, signal, () => answering).catch(() => undefined);
      }
      return answering;
    });
    connection.onNotification(
      'notifications/message',
      (params, related) => void this.#onLog(connection, params, related),
    );
    connection.onNotification('notifications/elicitation/complete', (params) => this.#onElicited(connection, params));
    connection.onReady(() => this.#levels.apply(connection));
  }

  /** Adds to a mode the handling of log levels, roots and sessions that all modes share. */
  serve(mode: SessionMode): SessionMode {
    const { workspace } = this.#options;
    return {
      ...mode,
      listTools: async (client) => safeIcons(await mode.listTools(client)),
      callTool: async (name, args, call) =>
        safeAnswer(await mode.callTool(name, args, withMaskedProgress(call)), workspace),
      request: (method, params, call) =>
        method === 'logging/setLevel'
          ? this.#setLevel(params, call)
          : mode.request?.(method, params, withMaskedProgress(call))?.then((answer) => safeAnswer(answer, workspace)),
      notification: (method, params, peer) => {
        if (method === 'notifications/roots/list_changed') this.#onRootsChanged();
        else mode.notification?.(method, params, peer);
      },
      greet: (peer) => this.#roots.greet(peer),
      open: (peer) => {
        const close = mode.open?.(peer);
        this.#sessions.set(peer.session, peer);
        return () => {
          close?.();
          this.#sessions.delete(peer.session);
          this.#levels.forget(peer.session);
          for (const connection of this.#options.connections()) connection.endSession(peer.session);
        };
      },
    };
  }

  /**
   * Returns the `data` of a server's error that sends the user to URLs first, as the user may see it. The completion
   * notice goes to the same session.
   */
  requiredElicitations(server: string, data: unknown, peer: ClientPeer | undefined): object {
    const connection = this.#options.connections().find(({ config }) => config.name === server);
    if (!connection) return {};
    const required = requiredElicitations(asking(connection), data, MAX_PER_CALL);
    const call = new SessionCall(peer);
    for (const { elicitationId } of required.elicitations) {
      this.#limits.begin(server, 'elicitation/create', call)();
      this.#expect(connection, elicitationId, peer);
    }
    return required;
  }

  /** Remembers the session of an elicitation by URL. Ids are unique within a server only. */
  #expect({ config }: ServerConnection, id: unknown, peer: ClientPeer | undefined): void {
    if (!peer || typeof id !== 'string') return;
    this.#elicitations.set(keyOf(config.name, id), peer);
    for (const oldest of this.#elicitations.keys()) {
      if (this.#elicitations.size <= MAX_ELICITATIONS) break;
      this.#elicitations.delete(oldest);
    }
  }

  async #ask(
    connection: ServerConnection,
    method: Question,
    params: Params,
    signal: AbortSignal,
    related: object | undefined,
  ): Promise<Params> {
    refuseQuestion(connection, method);
    const found = await callOf(connection, params, related);
    if (found === 'none') {
      throw new RpcError(INVALID_REQUEST, `${method} was sent outside of a call, so there is no client to ask.`);
    }
    if (found === 'several') {
      throw new RpcError(
        INVALID_REQUEST,
        `${method} cannot be answered: several clients have running calls at this server, and the request does not identify its call.`,
      );
    }
    const question = this.#questionOf(connection, method, params, found);
    const end = this.#limits.begin(connection.config.name, method, found);
    try {
      return await this.#forward(connection, method, question, found, signal);
    } finally {
      end();
    }
  }

  /** Makes the question that the client of a call receives. */
  #questionOf(connection: ServerConnection, method: Question, params: Params, { peer }: SessionCall): Params {
    if (!peer)
      throw new RpcError(INVALID_REQUEST, `${method} cannot be answered: the call does not come from an MCP client.`);
    const missing = peer.takesRounds ? undefined : missingCapability(method, params, peer.capabilities);
    if (missing) throw missing;
    const question = QUESTIONS[method](asking(connection), params);
    this.#expect(connection, question.elicitationId, peer);
    const { _meta } = params;
    return _meta === undefined ? question : { ...question, _meta };
  }

  /** Counts a question of a server, with its outcome. */
  #count<T>(method: string, signal: AbortSignal, answer: () => Promise<T>): Promise<T> {
    return reportWhenAnswered({ method, signal }, answer, (one) => this.#options.onQuestion?.({ ...one, method }));
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
    // The client called a plain tool: the task exists only between the gateway and the server.
    const { _meta: given, ...rest } = relateTo(undefined, params);
    const { progressToken } = (given ?? {}) as Params;
    const meta = traceOf(given);
    try {
      const answer = await peer.request(method, Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta }, {
        timeoutMs: TIME_LIMITS_MS[method] as number,
        signal: AbortSignal.any([signal, call.over]),
        ...(progressToken === undefined
          ? {}
          : {
              onProgress: ({ message: _, ...progress }) =>
                void connection.notify('notifications/progress', { ...progress, progressToken }).catch(() => undefined),
            }),
      });
      if (method !== QUESTIONS_METHOD) this.#guard(connection, method, answer, peer);
      return relatedTask(params) === undefined ? answer : relateTo(relatedTask(params), answer);
    } catch (error) {
      const { code, message, data } = asRpcError(error);
      this.#guard(connection, method, { message, data }, peer);
      throw new RpcError(code, message, data);
    } finally {
      clearInterval(timer);
      call.stillWorking?.();
    }
  }

  /** Keeps secrets of other servers out of an answer (T5.4). The server does not learn whose they are. */
  #guard({ config: { name } }: ServerConnection, method: string, answer: unknown, { session }: ClientPeer): void {
    const byUser = method === 'elicitation/create';
    const refusal = this.#options.egressRefusal?.(name, answer, { session, byUser });
    if (!refusal) return;
    this.#options.log(`${name}: the answer to ${method} was not sent: ${refusal.message}`);
    throw new RpcError(INVALID_REQUEST, 'Waygate did not send the answer, because it contains a secret.');
  }

  async #onLog(connection: ServerConnection, params: Params, related: object | undefined): Promise<void> {
    const task = relatedTask(params);
    const peer =
      task === undefined ? this.#listenerAt(connection, related) : (await callOfTask(connection, task))?.peer;
    if (!peer || connection.isWithheld || !this.#levels.admits(peer.session, params.level)) return;
    // Clients store logs in other places than results, so secrets are always masked here.
    peer.notify('notifications/message', relateTo(undefined, scrubValue(params) as Params));
  }

  #listenerAt(connection: ServerConnection, related: object | undefined): ClientPeer | undefined {
    const found = plainCallOf(connection, related);
    if (found instanceof SessionCall) return found.peer;
    if (found === 'several') return undefined;
    // Outside of calls, a message concerns the only session that has called the server.
    const { onlyCaller } = connection;
    return onlyCaller && this.#sessions.get(onlyCaller);
  }

  #onElicited({ config }: ServerConnection, { elicitationId }: Params): void {
    const key = keyOf(config.name, String(elicitationId));
    const peer = this.#elicitations.get(key);
    this.#elicitations.delete(key);
    const session = peer && (this.#sessions.get(peer.session) ?? peer);
    session?.notify('notifications/elicitation/complete', { elicitationId });
  }

  async #setLevel({ level }: Readonly<Params>, { peer }: CallContext): Promise<object> {
    if (!isLevel(level)) throw new RpcError(INVALID_PARAMS, 'The level must be one of MCP, from debug to emergency.');
    if (peer) this.#levels.set(peer.session, level);
    for (const connection of this.#running) this.#levels.apply(connection);
    return {};
  }

  get #running(): readonly ServerConnection[] {
    return this.#options.connections().flatMap(({ withSessions }) => withSessions);
  }

  #onRootsChanged(): void {
    for (const connection of this.#running) {
      if (!this.#roots.followsClients(connection)) continue;
      void connection.notify('notifications/roots/list_changed').catch((error: Error) => {
        this.#options.log(`${connection.config.name}: the change of roots could not be reported: ${error.message}`);
      });
    }
  }
}

/** Throws the error for a question that a server must not ask at all. */
function refuseQuestion({ config: { name, sampling: maySample }, isWithheld }: ServerConnection, method: string): void {
  if (method === 'sampling/createMessage' && maySample !== true) {
    const remedy = `The user can allow it by "sampling": true in the entry of the server.`;
    throw new RpcError(METHOD_NOT_FOUND, `Sampling is off for the server ${quoted(name)}. ${remedy}`);
  }
  if (isWithheld) {
    const message = `${method} is not passed on: the server ${quoted(name)} waits for the user's review (waygate trust).`;
    throw new RpcError(INVALID_REQUEST, message);
  }
}

const keyOf = (server: string, elicitationId: string): string => `${server}\n${elicitationId}`;

function asking({ config }: ServerConnection): AskingServer {
  const { name, type } = config;
  const address = 'url' in config && URL.canParse(config.url) ? new URL(config.url).hostname : '';
  return { name, isLocal: type === 'stdio' || isLoopback(address) };
}

/** Forwards the client's error unchanged. */
function asRpcError(error: unknown): RpcError {
  const { code, message, data } = error as { code?: unknown; message?: string; data?: unknown };
  return new RpcError(Number.isSafeInteger(code) ? (code as number) : INTERNAL_ERROR, String(message), data);
}
