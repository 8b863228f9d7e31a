import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  ErrorCode,
  type JSONRPCMessage,
  type JSONRPCRequest,
  McpError,
  type Result,
} from '@modelcontextprotocol/sdk/types.js';
import { faultOf } from '../../errors/fault.ts';
import { faultError } from '../../errors/faultError.ts';
import { errorText } from '../../errors/gatewayError.ts';
import {
  CONTRACT_NOTIFICATION,
  KEEP_NOTIFICATION,
  KEPT_NOTIFICATION,
  LOST_NOTIFICATION,
  RESENT_NOTIFICATION,
  type RequestId,
  STOPPED_NOTIFICATION,
  SUPERSEDED_NOTIFICATION,
} from '../../link/frames.ts';
import { MovingSession } from '../../link/movingSession.ts';
import { type LostCall, readLostCalls } from '../../replay/lostCall.ts';
import { oneLine } from '../../text/porcelain.ts';
import { lazyValidator } from '../lazyValidator.ts';
import { askOf, type CallExtra, peerOf, progressOf } from './clientPeer.ts';
import { IncomingRequests } from './incomingRequests.ts';
import { LineTransport } from './mcpTransport.ts';
import type { CallContext, Resent, SessionClient, SessionMode } from './sessionMode.ts';
import { reportWhenAnswered, type SessionRequest } from './sessionRequest.ts';
import { Turns } from './turns.ts';

const CLIENT_CHARS = 64;

export interface SessionServer {
  readonly client: SessionClient;
  onClose(listener: () => void): void;
  /** Announces to the host that the worker stops on request. */
  announceStop(): void;
  /** Announces to the host that another worker has taken over. This worker finishes its open requests. */
  announceSuccessor(): void;
  /**
   * Gives up open requests: the host sends those that have not begun elsewhere, and the session withdraws questions
   * about them.
   */
  handBack(): void;
  dispose(): void;
}

export interface SessionOptions {
  /** Id of the session for the status of the worker. */
  id?: string;
  /** Whether frames carry their related request, as the host asked. */
  marksRelated?: boolean;
  /** Turns of all sessions of the worker. */
  turns?: Turns;
  /** Receives answered requests, except `tools/call`, which the mode reports because it knows more. */
  onRequest?: (request: SessionRequest) => void;
  /** Receives calls that the host answered without a worker. */
  onLost?: (calls: readonly LostCall[], client: SessionClient) => void;
}

/** Serves the MCP session of one client on the socket of its host. */
export function serveSession(
  socket: Socket,
  mode: SessionMode,
  { id, onRequest, onLost, turns = new Turns(), ...frames }: SessionOptions = {},
): SessionServer {
  const server = serverFor(mode);
  const closed = new Set<() => void>();
  const lane = turns.lane();
  const session = {};
  const idPrefix = `waygate:${randomUUID()}:`;
  const transport = new LineTransport({ input: socket, output: socket, idPrefix, ...frames });
  const toHost = (method: string, params?: Record<string, unknown>): void => {
    const given = params === undefined ? {} : { params };
    void transport.send({ jsonrpc: '2.0', method, ...given }).catch(() => undefined);
  };
  const client = (): SessionClient => clientOf(server, negotiated());
  const peer = peerOf(server, session, client);
  const moving = new MovingSession(mode.memory, {
    keep: (key, value, counted) => toHost(KEEP_NOTIFICATION, { key, value, counted }),
    listChanged: (kind) => peer.notify(`notifications/${kind}/list_changed`),
  });
  const open = new Set<RequestId>();
  const heldBack = new Set<() => void>();
  const resent = new Map<unknown, Resent>();
  const answerTo = async (request: JSONRPCRequest, extra: CallExtra, again: Resent | undefined): Promise<Result> => {
    const params = (request.params ?? {}) as Record<string, unknown>;
    if (request.method.startsWith('tasks/')) throw new McpError(ErrorCode.MethodNotFound, noTasks(request.method));
    if (request.method === 'tools/list') return { tools: await mode.listTools(client()) };
    const call: CallContext = {
      signal: extra.signal,
      client: client().name,
      session: moving.conversation(extra._meta),
      ...(id !== undefined && { sessionId: id }),
      id: extra.requestId,
      ...again,
      meta: extra._meta,
      peer: peerOf(server, session, client, extra),
      contract: (contract) => toHost(CONTRACT_NOTIFICATION, { id: extra.requestId, contract, begins: false }),
      begins: (contract, toolId) => {
        toHost(CONTRACT_NOTIFICATION, { id: extra.requestId, contract, toolId });
        return left(socket);
      },
      ...progressOf(server, extra),
      ...askOf(server, extra),
    };
    const answer =
      request.method === 'tools/call'
        ? mode.callTool(String(params.name), params.arguments ?? {}, call)
        : mode.request?.(request.method, params, call);
    if (!answer) throw new McpError(ErrorCode.MethodNotFound, `Method not found: ${request.method}`);
    return (await answer) as Result;
  };
  // Results of servers pass unchanged: the SDK's handlers would validate a whole result by its strictest part.
  const answerRequest = async (request: JSONRPCRequest, extra: CallExtra): Promise<Result> => {
    const { method } = request;
    const { requestId } = extra;
    open.add(requestId);
    const again = resent.get(requestId);
    // A reused id is another request.
    resent.delete(requestId);
    const begin = async (): Promise<Result> => {
      extra.signal.throwIfAborted();
      return answerTo(request, extra, again);
    };
    const answer = async (): Promise<Result> =>
      Promise.resolve(lane.run(begin, reachesServer(mode, request)) ?? tooMany(method)).finally(() =>
        open.delete(requestId),
      );
    if (method === 'tools/call') return answer();
    const result = await (onRequest
      ? reportWhenAnswered({ method, replays: again?.replays, signal: extra.signal }, answer, onRequest)
      : answer());
    // A cancelled request gets no answer.
    if (!extra.signal.aborted) behindAnswer(socket, heldBack, () => moving.answered(method));
    return result;
  };
  let close: (() => void) | undefined;
  let leave: (() => void) | undefined;
  server.oninitialized = () => {
    close ??= mode.open?.(peer);
    void moving.begin();
  };
  server.fallbackNotificationHandler = async ({ method, params = {} }) => {
    if (method === LOST_NOTIFICATION) onLost?.(readLostCalls(params.calls), client());
    else mode.notification?.(method, params, peer);
  };
  server.onclose = () => {
    close?.();
    leave?.();
    requests.close();
    socket.destroy();
    for (const listener of closed) listener();
  };
  const hostWords: HostWords = new Map([
    [KEPT_NOTIFICATION, ({ kept }) => moving.receive(kept)],
    [
      RESENT_NOTIFICATION,
      ({ id, counted, replays }) => void resent.set(id, { counted: counted === true, replays: Number(replays) || 0 }),
    ],
  ]);
  const greet = (): void => {
    leave ??= mode.greet?.(peer);
  };
  const requests = new IncomingRequests(answerRequest, (message) => transport.send(message));
  const negotiated = connect(server, transport, mode, { hostWords, greet, requests });
  socket.resume();
  return {
    get client() {
      return client();
    },
    onClose: (listener) => void closed.add(listener),
    announceStop: () => {
      // The socket closes right after this, so send the queued messages now.
      for (const leave of heldBack) leave();
      toHost(STOPPED_NOTIFICATION);
    },
    announceSuccessor: () => {
      moving.handOver();
      toHost(SUPERSEDED_NOTIFICATION);
    },
    // Acts as if the client had cancelled its requests, with the connection still open: questions for them are
    // withdrawn.
    handBack: () => {
      for (const requestId of open) {
        transport.onmessage?.({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
      }
    },
    dispose: () => void server.close(),
  };
}

function serverFor(mode: SessionMode): Server {
  const server = new Server(mode.serverInfo, {
    capabilities: mode.capabilities,
    instructions: mode.instructions,
    jsonSchemaValidator: lazyValidator(),
  });
  // The mode answers this request like any other.
  server.removeRequestHandler('logging/setLevel');
  return server;
}

/** Handlers for the host's private notifications, by method. They run before the SDK sees later messages. */
type HostWords = ReadonlyMap<string, (params: Readonly<Record<string, unknown>>) => void>;

/** Connects the SDK and completes the beginning of a session. Returns a function for the negotiated version. */
function connect(
  server: Server,
  transport: LineTransport,
  mode: SessionMode,
  { hostWords, greet, requests }: { hostWords: HostWords; greet: () => void; requests: IncomingRequests },
): () => string {
  let protocolVersion = '';
  let initializeId: unknown;
  const send = transport.send.bind(transport);
  // The SDK answers `initialize` with its construction values; insert values that need a request first.
  transport.send = async (message, options) => {
    if (!('result' in message) || message.id !== initializeId) return send(message, options);
    greet();
    const introduction = { capabilities: mode.capabilities, ...(await mode.introduce?.()) };
    return send({ ...message, result: { ...message.result, ...introduction } }, options);
  };
  void server.connect(transport);
  const onmessage = transport.onmessage;
  transport.onmessage = (message) => {
    const hear = 'method' in message ? hostWords.get(message.method) : undefined;
    if (hear) return hear((message as { params?: Record<string, unknown> }).params ?? {});
    // The SDK does not expose the negotiated version; the host has put it into its request.
    if ('method' in message && message.method === 'initialize') {
      protocolVersion = String(message.params?.protocolVersion ?? '');
      initializeId = 'id' in message ? message.id : undefined;
    }
    const plain = withoutTask(message);
    if (!requests.take(plain)) onmessage?.(plain);
  };
  return () => protocolVersion;
}

/** Sends a message together with the next answer, in one write. A killed worker has sent both, or neither. */
function behindAnswer(socket: Socket, heldBack: Set<() => void>, say: () => void): void {
  socket.cork();
  const leave = (): void => {
    if (!heldBack.delete(leave)) return;
    say();
    socket.uncork();
  };
  heldBack.add(leave);
  setImmediate(leave);
}

/** Resolves when everything written has left this process, rejects if it never will; undefined if it has. */
function left(socket: Socket): Promise<void> | undefined {
  // Node reports a failed write a turn later.
  if (socket.destroyed || socket.writableEnded || socket.errored)
    return Promise.reject(new Error('the session has ended'));
  if (socket.writableLength === 0) return undefined;
  return new Promise((resolve, reject) => socket.write('', (error) => (error ? reject(error) : resolve())));
}

const REACH_SERVER: ReadonlySet<string> = new Set(['resources/read', 'prompts/get', 'completion/complete']);

/** Returns whether a server may have to answer the request. */
function reachesServer(mode: SessionMode, { method, params }: JSONRPCRequest): boolean {
  return method === 'tools/call' ? mode.isRead?.(String(params?.name)) !== true : REACH_SERVER.has(method);
}

/** Answers a request that no queue takes any more. */
function tooMany(method: string): Result {
  const fault = faultOf('queue_overflow', { generation: 1 }, (text) => text);
  const error = faultError(fault, { subject: 'This session', knowledge: 'not_dispatched', contract: 'never_replay' });
  if (method !== 'tools/call') throw new McpError(ErrorCode.InternalError, error.message, error.toObject());
  return { content: [{ type: 'text', text: errorText(error) }], isError: true };
}

function noTasks(method: string): string {
  return `${method} is not supported: Waygate offers no tasks to clients. Call the tool with tools/call; its result is in the answer.`;
}

function clientOf(server: Server, protocolVersion: string): SessionClient {
  const version = server.getClientVersion();
  // A client may claim anything about itself, and a person reads it.
  return {
    name: oneLine(version?.name ?? 'unknown client', CLIENT_CHARS),
    version: oneLine(version?.version ?? '', CLIENT_CHARS),
    protocolVersion,
  };
}

/**
 * Drops the `task` of a request. Waygate declares no task capability, so the request counts as a plain one (2025-11-25,
 * Tasks); the SDK would reject it.
 */
function withoutTask(message: JSONRPCMessage): JSONRPCMessage {
  if (!('method' in message) || message.params?.task === undefined) return message;
  const { task: _task, ...params } = message.params;
  return { ...message, params };
}
