import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { ProgressCallback, RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  type ElicitRequestFormParams,
  ErrorCode,
  type JSONRPCRequest,
  McpError,
  type Result,
  ResultSchema,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { type HeldTask, readHeldTasks } from '../ops/heldTask.ts';
import { oneLine } from '../ops/porcelain.ts';
import type { ReplayContract } from '../ops/replay.ts';
import { Conversations } from './conversations.ts';
import {
  CONTRACT_NOTIFICATION,
  KNOWS_NOTIFICATION,
  LISTED_NOTIFICATION,
  MEMORY_NOTIFICATION,
  PRIVATE_PREFIX,
  STOPPED_NOTIFICATION,
  SUPERSEDED_NOTIFICATION,
  TASK_NOTIFICATION,
  TASKS_NOTIFICATION,
} from './frames.ts';
import { lazyValidator } from './lazyValidator.ts';
import { listMark } from './listMark.ts';
import { LineTransport } from './mcpTransport.ts';
import { MovingSession, type SessionMemory } from './movingSession.ts';
import { type SessionRequest, toldWhenAnswered } from './sessionRequest.ts';

export interface Progress {
  progress: number;
  total?: number;
  message?: string;
}

/** A question to the person, with the fields of a form. */
export interface Question {
  message: string;
  requestedSchema: { type: 'object'; properties: Record<string, object>; required?: string[] };
}

export interface QuestionAnswer {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, unknown> | undefined;
}

export interface PeerRequestOptions {
  timeoutMs: number;
  signal?: AbortSignal;
  /** Asks the client to tell how far it is. */
  onProgress?: (progress: Progress) => void;
}

/** The client at the other end of a session: what it is, what it can do, and how to speak to it. */
export interface ClientPeer {
  /** The same object for everything of one MCP session, whatever conversations it has. */
  readonly session: object;
  readonly client: SessionClient;
  /** `ClientCapabilities`, as the client sent them. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Has the host remember a task of the client's, or forget one: so the next worker knows whose it was. */
  readonly tasks?: { hold(task: HeldTask): void; drop(id: string): void };
  notify(method: string, params?: Record<string, unknown>): void;
  /** Rejects with an error that has the client's JSON-RPC `code`, or when the client has gone. */
  request(
    method: string,
    params: Record<string, unknown>,
    options: PeerRequestOptions,
  ): Promise<Record<string, unknown>>;
}

/** Who calls. `session` is the same object for one session's calls: what a surface remembers of it hangs on it. */
export interface SurfaceCall {
  signal: AbortSignal;
  client: string;
  session: object;
  /** The request's `_meta`, as it came. */
  meta?: Readonly<Record<string, unknown>> | undefined;
  /** The request's `task`, as it came: the client wants a task for an answer. */
  task?: Readonly<Record<string, unknown>> | undefined;
  /** The client, spoken to on behalf of this request: what is sent so belongs to it (and travels on its stream). */
  peer?: ClientPeer;
  /** Tells the client how far the call is; absent where it did not ask for that. */
  progress?: (progress: Progress) => void;
  /**
   * Tells the host the call's replay contract, and that it begins: until then it is as good as not sent. To be awaited,
   * where there is something to await: the word has not left yet.
   */
  contract?: (contract: ReplayContract) => Promise<void> | undefined;
  /** Asks the person in the client; absent where the client cannot. */
  ask?: (question: Question) => Promise<QuestionAnswer>;
}

const CLIENT_CHARS = 64;

/** What a session serves: plain data in and out, the SDK stays in this room. */
export interface SessionSurface {
  serverInfo: { name: string; title: string; version: string };
  capabilities: Record<string, unknown>;
  instructions: string;
  /** Settles what `initialize` is answered with; what stands above holds where this is absent. */
  introduce?(): Promise<{ capabilities: Record<string, unknown>; instructions?: string | undefined }>;
  listTools(): readonly object[] | Promise<readonly object[]>;
  /** Faults are results (design.md §3); rejects with an `RpcError` for an error of JSON-RPC that a server gave. */
  callTool(name: string, args: unknown, call: SurfaceCall): Promise<object>;
  /** Any other request; `undefined` for a method that nobody here answers. Rejects with an `RpcError`. */
  request?(method: string, params: Readonly<Record<string, unknown>>, call: SurfaceCall): Promise<object> | undefined;
  /** What the client tells by itself. */
  notification?(method: string, params: Readonly<Record<string, unknown>>, peer: ClientPeer): void;
  /** What moves with a session to the worker that takes over from this one. */
  memory?: SessionMemory;
  /** A session that is initialized; the function returned is called at its end. */
  open?(peer: ClientPeer): () => void;
  /** The tasks that the client has begun with another worker. */
  adopt?(tasks: readonly HeldTask[], peer: ClientPeer): void;
}

export interface SessionClient {
  name: string;
  version: string;
  protocolVersion: string;
}

export interface SessionServer {
  readonly client: SessionClient;
  onClose(listener: () => void): void;
  /** Tells the host that the worker goes because it was asked to. */
  announceStop(): void;
  /** Tells the host that another worker has taken over; what this one has it finishes. */
  announceSuccessor(): void;
  dispose(): void;
}

export interface SessionOptions {
  /** How the host wants its frames. */
  marksRelated?: boolean;
  /** Hears of what was answered; `tools/call` is the surface's to tell, which knows more of it. */
  onRequest?: (request: SessionRequest) => void;
}

/** One client's MCP session, on the socket that its host has attached. */
export function serveSession(
  socket: Socket,
  surface: SessionSurface,
  { onRequest, ...frames }: SessionOptions = {},
): SessionServer {
  const server = new Server(surface.serverInfo, {
    // The SDK refuses a request for a task where it may not be granted, and MCP says that it is then a plain request.
    capabilities: { ...surface.capabilities, tasks: { requests: { tools: { call: {} } } } },
    instructions: surface.instructions,
    jsonSchemaValidator: lazyValidator(),
  });
  // Answered by the surface like any other request.
  server.removeRequestHandler('logging/setLevel');
  const closed = new Set<() => void>();
  const session = {};
  const toHost: ToHost = (method, params) => {
    const told = params === undefined ? {} : { params };
    void transport.send({ jsonrpc: '2.0', method, ...told }).catch(() => undefined);
  };
  const conversations = new Conversations();
  const moving = new MovingSession(surface.memory, conversations);
  let protocolVersion = '';
  const client = (): SessionClient => {
    const version = server.getClientVersion();
    // A client says what it likes of itself; a person reads it.
    return {
      name: oneLine(version?.name ?? 'unknown client', CLIENT_CHARS),
      version: oneLine(version?.version ?? '', CLIENT_CHARS),
      protocolVersion,
    };
  };
  // The typed handlers would judge a whole result by its strictest part; what a server sent is passed on as it is.
  server.fallbackRequestHandler = async (request, extra): Promise<Result> => {
    if (request.method === 'tools/call' || !onRequest) return answerTo(request, extra);
    const { method } = request;
    return toldWhenAnswered({ method, signal: extra.signal }, () => answerTo(request, extra), onRequest);
  };
  const answerTo = async (request: JSONRPCRequest, extra: CallExtra): Promise<Result> => {
    const params = (request.params ?? {}) as Record<string, unknown>;
    if (request.method === 'tools/list') {
      const tools = await surface.listTools();
      // Behind the answer.
      setImmediate(() => toHost(LISTED_NOTIFICATION, { mark: listMark(tools) }));
      return { tools };
    }
    const call: SurfaceCall = {
      signal: extra.signal,
      client: client().name,
      session: conversations.of(extra._meta),
      meta: extra._meta,
      task: taskOf(params),
      peer: peerOf(server, session, client, toHost, extra),
      contract: (contract) => {
        toHost(CONTRACT_NOTIFICATION, { id: extra.requestId, contract });
        return left(socket);
      },
      ...progressOf(server, extra),
      ...askOf(server, extra),
    };
    const answer =
      request.method === 'tools/call'
        ? surface.callTool(String(params.name), params.arguments ?? {}, call)
        : surface.request?.(request.method, params, call);
    if (!answer) throw new McpError(ErrorCode.MethodNotFound, `Method not found: ${request.method}`);
    return (await answer) as Result;
  };
  const peer = peerOf(server, session, client, toHost);
  let close: (() => void) | undefined;
  server.oninitialized = () => {
    close ??= surface.open?.(peer);
    for (const kind of moving.changedLists()) peer.notify(`notifications/${kind}/list_changed`);
  };
  server.fallbackNotificationHandler = async ({ method, params = {} }) => {
    if (method === TASKS_NOTIFICATION) surface.adopt?.(readHeldTasks(params.tasks), peer);
    else if (method !== KNOWS_NOTIFICATION) surface.notification?.(method, params, peer);
    // Another worker has told the client of its tools: what has changed since nobody else will tell.
    else if (listMark(await surface.listTools()) !== params.mark) peer.notify('notifications/tools/list_changed');
  };
  server.onclose = () => {
    close?.();
    socket.destroy();
    for (const listener of closed) listener();
  };
  const idPrefix = `waygate:${randomUUID()}:`;
  const transport = new LineTransport({ input: socket, output: socket, idPrefix, ...frames });
  let initializeId: unknown;
  const send = transport.send.bind(transport);
  // The SDK answers `initialize` with what it was made with; what has to be asked for first is put in here.
  transport.send = async (message, options) =>
    send(
      'result' in message && message.id === initializeId
        ? {
            ...message,
            result: { ...message.result, capabilities: surface.capabilities, ...(await surface.introduce?.()) },
          }
        : message,
      options,
    );
  void server.connect(transport);
  const onmessage = transport.onmessage;
  transport.onmessage = (message) => {
    if ('method' in message && message.method === MEMORY_NOTIFICATION) return moving.receive(message.params ?? {});
    // The SDK does not tell what was negotiated; the host has put the settled version into its request.
    if ('method' in message && message.method === 'initialize') {
      protocolVersion = String(message.params?.protocolVersion ?? '');
      initializeId = 'id' in message ? message.id : undefined;
    }
    onmessage?.(message);
  };
  socket.resume();
  return {
    get client() {
      return client();
    },
    onClose: (listener) => void closed.add(listener),
    announceStop: () => toHost(STOPPED_NOTIFICATION),
    announceSuccessor: () => toHost(SUPERSEDED_NOTIFICATION, moving.handedOver),
    dispose: () => void server.close(),
  };
}

/** Resolves when all that was written has left this process; undefined where it has. */
function left(socket: Socket): Promise<void> | undefined {
  if (socket.writableLength === 0) return undefined;
  return new Promise((resolve) => socket.write('', () => resolve()));
}

type ToHost = (method: string, params?: Record<string, unknown>) => void;

function taskOf({ task }: Record<string, unknown>): SurfaceCall['task'] {
  return typeof task === 'object' && task !== null && !Array.isArray(task) ? { ...task } : undefined;
}

type CallExtra = RequestHandlerExtra<ServerRequest, ServerNotification>;

/** A person may be away from the window: an approval waits as long as the client's own dialog would. */
const QUESTION_TIMEOUT_MS = 10 * 60_000;

/** A client as a surface speaks to it; with `extra`, on behalf of that request. */
function peerOf(
  server: Server,
  session: object,
  client: () => SessionClient,
  toHost: ToHost,
  extra?: CallExtra,
): ClientPeer {
  // Not by `extra` itself: to the SDK a request that names a task is part of it, and its questions wait in a queue.
  const related = extra ? { relatedRequestId: extra.requestId } : {};
  return {
    session,
    get client() {
      return client();
    },
    get capabilities() {
      return (server.getClientCapabilities() ?? {}) as Readonly<Record<string, unknown>>;
    },
    notify: (method, params) => {
      // A host believes what is said there: whatever a server sends on is not among it.
      if (method.startsWith(PRIVATE_PREFIX)) return;
      const notification = { method, ...(params === undefined ? {} : { params }) } as ServerNotification;
      // The client may have gone: its session ends then.
      if (!extra?.signal.aborted) void server.notification(notification, related).catch(() => undefined);
    },
    tasks: {
      hold: (task) => toHost(TASK_NOTIFICATION, { task }),
      drop: (gone) => toHost(TASK_NOTIFICATION, { gone }),
    },
    request: async (method, params, { timeoutMs, signal, onProgress }) => {
      if (extra?.signal.aborted) throw new McpError(ErrorCode.ConnectionClosed, 'Request was cancelled');
      // The SDK would cancel what has its answer already: its listener stays at the signal.
      const ended = new AbortController();
      const end = (): void => ended.abort(signal?.reason);
      if (signal?.aborted) end();
      else signal?.addEventListener('abort', end, { once: true });
      const options = {
        timeout: timeoutMs,
        signal: ended.signal,
        ...related,
        ...(onProgress ? { onprogress: onProgress as ProgressCallback } : {}),
      };
      const request = { method, params } as ServerRequest;
      try {
        return await server.request(request, ResultSchema, options);
      } finally {
        signal?.removeEventListener('abort', end);
      }
    },
  };
}

function progressOf(server: Server, extra: CallExtra): Pick<SurfaceCall, 'progress'> {
  const progressToken = extra._meta?.progressToken;
  if (progressToken === undefined) return {};
  return {
    progress: (progress) => {
      const params = { ...progress, progressToken };
      // The client may have gone: the call itself will notice.
      if (extra.signal.aborted) return;
      const related = { relatedRequestId: extra.requestId };
      void server.notification({ method: 'notifications/progress', params }, related).catch(() => undefined);
    },
  };
}

function askOf(server: Server, extra: CallExtra): Pick<SurfaceCall, 'ask'> {
  if (!server.getClientCapabilities()?.elicitation?.form) return {};
  return {
    ask: async (question) => {
      const params = { mode: 'form', ...question } as ElicitRequestFormParams;
      const options = { timeout: QUESTION_TIMEOUT_MS, signal: extra.signal, relatedRequestId: extra.requestId };
      return server.elicitInput(params, options);
    },
  };
}
