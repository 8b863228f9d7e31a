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
import { LineTransport } from './mcpTransport.ts';
import type { CallContext, Resent, SessionClient, SessionMode } from './sessionMode.ts';
import { type SessionRequest, toldWhenAnswered } from './sessionRequest.ts';

const CLIENT_CHARS = 64;

export interface SessionServer {
  readonly client: SessionClient;
  onClose(listener: () => void): void;
  /** Tells the host that the worker goes because it was asked to. */
  announceStop(): void;
  /** Tells the host that another worker has taken over; what this one has it finishes. */
  announceSuccessor(): void;
  /** Gives up what is open here: of it the host sends on what has not begun, and nobody is asked anything for it any more. */
  handBack(): void;
  dispose(): void;
}

export interface SessionOptions {
  /** How the host wants its frames. */
  marksRelated?: boolean;
  /** Hears of what was answered; `tools/call` is the mode's to tell, which knows more of it. */
  onRequest?: (request: SessionRequest) => void;
  /** Hears of what the host has answered by itself, because there was no worker. */
  onLost?: (calls: readonly LostCall[], client: SessionClient) => void;
}

/** One client's MCP session, on the socket that its host has attached. */
export function serveSession(
  socket: Socket,
  mode: SessionMode,
  { onRequest, onLost, ...frames }: SessionOptions = {},
): SessionServer {
  const server = serverFor(mode);
  const closed = new Set<() => void>();
  const session = {};
  const idPrefix = `waygate:${randomUUID()}:`;
  const transport = new LineTransport({ input: socket, output: socket, idPrefix, ...frames });
  const toHost = (method: string, params?: Record<string, unknown>): void => {
    const told = params === undefined ? {} : { params };
    void transport.send({ jsonrpc: '2.0', method, ...told }).catch(() => undefined);
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
    if (request.method === 'tools/list') return { tools: await mode.listTools() };
    const call: CallContext = {
      signal: extra.signal,
      client: client().name,
      session: moving.conversation(extra._meta),
      id: extra.requestId,
      ...again,
      meta: extra._meta,
      peer: peerOf(server, session, client, extra),
      contract: (contract) => toHost(CONTRACT_NOTIFICATION, { id: extra.requestId, contract, begins: false }),
      begins: (contract) => {
        toHost(CONTRACT_NOTIFICATION, { id: extra.requestId, contract });
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
  // The typed handlers would judge a whole result by its strictest part; what a server sent is passed on as it is.
  server.fallbackRequestHandler = async (request, extra): Promise<Result> => {
    const { method } = request;
    const { requestId } = extra;
    open.add(requestId);
    const again = resent.get(requestId);
    // An id that is used again is another request.
    resent.delete(requestId);
    const answer = (): Promise<Result> => answerTo(request, extra, again).finally(() => open.delete(requestId));
    if (method === 'tools/call') return answer();
    const result = await (onRequest
      ? toldWhenAnswered({ method, replays: again?.replays, signal: extra.signal }, answer, onRequest)
      : answer());
    // Who has cancelled it is not answered.
    if (!extra.signal.aborted) behindAnswer(socket, heldBack, () => moving.answered(method));
    return result;
  };
  let close: (() => void) | undefined;
  server.oninitialized = () => {
    close ??= mode.open?.(peer);
    void moving.begin();
  };
  server.fallbackNotificationHandler = async ({ method, params = {} }) => {
    if (method === LOST_NOTIFICATION) {
      const calls = readLostCalls(params.calls);
      onLost?.(mode.namedLosses?.(calls) ?? calls, client());
    } else mode.notification?.(method, params, peer);
  };
  server.onclose = () => {
    close?.();
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
  const negotiated = connect(server, transport, mode, hostWords);
  socket.resume();
  return {
    get client() {
      return client();
    },
    onClose: (listener) => void closed.add(listener),
    announceStop: () => {
      // The socket is closed right behind this: what is held back would go with it, and this too.
      for (const leave of heldBack) leave();
      toHost(STOPPED_NOTIFICATION);
    },
    announceSuccessor: () => {
      moving.handOver();
      toHost(SUPERSEDED_NOTIFICATION);
    },
    // As if the client had cancelled it, with the connection still there: what was asked for it is withdrawn.
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
  // Answered by the mode like any other request.
  server.removeRequestHandler('logging/setLevel');
  return server;
}

/** Hears what a host says of a session, before the SDK hears what comes behind it; by the method. */
type HostWords = ReadonlyMap<string, (params: Readonly<Record<string, unknown>>) => void>;

/** With what the SDK leaves to do at the beginning of a session; returns what tells the version that was negotiated. */
function connect(server: Server, transport: LineTransport, mode: SessionMode, hostWords: HostWords): () => string {
  let protocolVersion = '';
  let initializeId: unknown;
  const send = transport.send.bind(transport);
  // The SDK answers `initialize` with what it was made with; what has to be asked for first is put in here.
  transport.send = async (message, options) =>
    send(
      'result' in message && message.id === initializeId
        ? {
            ...message,
            result: { ...message.result, capabilities: mode.capabilities, ...(await mode.introduce?.()) },
          }
        : message,
      options,
    );
  void server.connect(transport);
  const onmessage = transport.onmessage;
  transport.onmessage = (message) => {
    const hear = 'method' in message ? hostWords.get(message.method) : undefined;
    if (hear) return hear((message as { params?: Record<string, unknown> }).params ?? {});
    // The SDK does not tell what was negotiated; the host has put the settled version into its request.
    if ('method' in message && message.method === 'initialize') {
      protocolVersion = String(message.params?.protocolVersion ?? '');
      initializeId = 'id' in message ? message.id : undefined;
    }
    onmessage?.(withoutTask(message));
  };
  return () => protocolVersion;
}

/**
 * For a request that is about to be answered: says something behind the answer, and both leave in one. A worker that is
 * killed has sent both, or neither.
 */
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

/** Resolves when all that was written has left this process, rejects where it never will; undefined where it has. */
function left(socket: Socket): Promise<void> | undefined {
  // A write that has failed is heard of a turn later.
  if (socket.destroyed || socket.writableEnded || socket.errored)
    return Promise.reject(new Error('the session has ended'));
  if (socket.writableLength === 0) return undefined;
  return new Promise((resolve, reject) => socket.write('', (error) => (error ? reject(error) : resolve())));
}

function noTasks(method: string): string {
  return `${method} is not supported: Waygate offers no tasks to clients. Call the tool with tools/call; its result is in the answer.`;
}

function clientOf(server: Server, protocolVersion: string): SessionClient {
  const version = server.getClientVersion();
  // A client says what it likes of itself; a person reads it.
  return {
    name: oneLine(version?.name ?? 'unknown client', CLIENT_CHARS),
    version: oneLine(version?.version ?? '', CLIENT_CHARS),
    protocolVersion,
  };
}

/**
 * Drops the `task` of a request. No task capability is declared, so the request is processed as a plain one
 * (2025-11-25, Tasks); the SDK would reject it.
 */
function withoutTask(message: JSONRPCMessage): JSONRPCMessage {
  if (!('method' in message) || message.params?.task === undefined) return message;
  const { task: _task, ...params } = message.params;
  return { ...message, params };
}
