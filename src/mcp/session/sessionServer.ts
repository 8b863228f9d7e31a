import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { JSONRPCMessage, JSONRPCRequest, Result } from '@modelcontextprotocol/sdk/types.js';
import { faultOf } from '../../errors/fault.ts';
import { faultError } from '../../errors/faultError.ts';
import { errorText } from '../../errors/gatewayError.ts';
import { INTERNAL_ERROR, METHOD_NOT_FOUND } from '../../errors/rpcCodes.ts';
import { RpcError } from '../../errors/rpcError.ts';
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
import { type CallExtra, IncomingRequests } from '../incomingRequests.ts';
import { REQUEST_CAPABILITIES_META } from '../modern/wire.ts';
import { OutgoingRequests, type Send } from '../outgoingRequests.ts';
import { ClientLink } from './clientLink.ts';
import { askOf, LinkPeer, progressOf } from './clientPeer.ts';
import { LineTransport } from './mcpTransport.ts';
import type { CallContext, Resent, SessionClient, SessionMode } from './sessionMode.ts';
import { reportWhenAnswered, type SessionRequest } from './sessionRequest.ts';
import { Turns } from './turns.ts';

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
  const closed = new Set<() => void>();
  const lane = turns.lane();
  const idPrefix = `waygate:${randomUUID()}:`;
  const transport = new LineTransport({ input: socket, output: socket, idPrefix, ...frames });
  const send: Send = (message, options) => transport.send(message, options);
  const toHost = (method: string, params?: Record<string, unknown>): void => {
    const given = params === undefined ? {} : { params };
    void send({ jsonrpc: '2.0', method, ...given }).catch(() => undefined);
  };
  const asked = new OutgoingRequests(send);
  const link = new ClientLink(mode.capabilities, send, asked);
  const peer = new LinkPeer(link);
  const moving = new MovingSession(mode.memory, {
    keep: (key, value, counted) => toHost(KEEP_NOTIFICATION, { key, value, counted }),
    listChanged: (kind) => peer.notify(`notifications/${kind}/list_changed`),
  });
  const open = new Set<RequestId>();
  const heldBack = new Set<() => void>();
  const resent = new Map<unknown, Resent>();
  let close: (() => void) | undefined;
  let leave: (() => void) | undefined;
  const initialize = async (params: Readonly<Record<string, unknown>>): Promise<Result> => {
    link.introduce(params);
    leave ??= mode.greet?.(peer);
    const { serverInfo, capabilities, instructions } = mode;
    const given = { protocolVersion: link.client.protocolVersion, capabilities, serverInfo };
    return { ...given, ...(instructions && { instructions }), ...(await mode.introduce?.()) };
  };
  const answerTo = async (request: JSONRPCRequest, extra: CallExtra, again: Resent | undefined): Promise<Result> => {
    const params = (request.params ?? {}) as Record<string, unknown>;
    if (request.method.startsWith('tasks/')) throw mcpError(METHOD_NOT_FOUND, noTasks(request.method));
    if (request.method === 'tools/list') return { tools: await mode.listTools(link.client) };
    const call: CallContext = {
      signal: extra.signal,
      client: link.client.name,
      session: moving.conversation(extra._meta),
      ...(id !== undefined && { sessionId: id }),
      id: extra.requestId,
      ...again,
      meta: link.takesRounds ? withoutCapabilities(extra._meta) : extra._meta,
      peer: new LinkPeer(link, extra),
      contract: (contract) => toHost(CONTRACT_NOTIFICATION, { id: extra.requestId, contract, begins: false }),
      begins: (contract, toolId) => {
        toHost(CONTRACT_NOTIFICATION, { id: extra.requestId, contract, toolId });
        return left(socket);
      },
      ...progressOf(link, extra),
      ...askOf(link, extra),
    };
    const answer =
      request.method === 'tools/call'
        ? mode.callTool(String(params.name), params.arguments ?? {}, call)
        : mode.request?.(request.method, params, call);
    if (!answer) throw mcpError(METHOD_NOT_FOUND, `Method not found: ${request.method}`);
    return (await answer) as Result;
  };
  // Results of servers pass unchanged.
  const answerRequest = async (request: JSONRPCRequest, extra: CallExtra): Promise<Result> => {
    const { method } = request;
    if (method === 'initialize') return initialize(request.params ?? {});
    if (method === 'ping') return {};
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
  const requests = new IncomingRequests(answerRequest, send);
  /** Takes a private notification of the host, or one of the client. */
  const hear = async (method: string, params: Readonly<Record<string, unknown>>): Promise<void> => {
    if (method === KEPT_NOTIFICATION) moving.receive(params.kept);
    else if (method === RESENT_NOTIFICATION) resent.set(params.id, readResent(params));
    else if (method === LOST_NOTIFICATION) onLost?.(readLostCalls(params.calls), link.client);
    else if (method === 'notifications/initialized') {
      close ??= mode.open?.(peer);
      void moving.begin();
    } else mode.notification?.(method, params, peer);
  };
  transport.onmessage = (message) => {
    const plain = withoutTask(message);
    if (asked.take(plain) || requests.take(plain) || !('method' in plain)) return;
    // A notification has no answer that could carry an error.
    hear(plain.method, plain.params ?? {}).catch(() => undefined);
  };
  transport.onclose = () => {
    close?.();
    leave?.();
    requests.close();
    asked.close();
    socket.destroy();
    for (const listener of closed) listener();
  };
  void transport.start();
  socket.resume();
  return {
    get client() {
      return link.client;
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
        requests.take({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } });
      }
    },
    dispose: () => void transport.close(),
  };
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

function readResent({ counted, replays }: Readonly<Record<string, unknown>>): Resent {
  return { counted: counted === true, replays: Number(replays) || 0 };
}

/** Removes what the host adds to the `_meta` of a request. */
function withoutCapabilities(meta: CallExtra['_meta']): CallContext['meta'] {
  const { [REQUEST_CAPABILITIES_META]: _capabilities, ...rest } = meta ?? {};
  return rest;
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
  if (method !== 'tools/call') throw mcpError(INTERNAL_ERROR, error.message, error.toObject());
  return { content: [{ type: 'text', text: errorText(error) }], isError: true };
}

function noTasks(method: string): string {
  return `${method} is not supported: Waygate offers no tasks to clients. Call the tool with tools/call; its result is in the answer.`;
}

/** Error in the words of the MCP SDK, which clients know. */
function mcpError(code: number, message: string, data?: unknown): RpcError {
  return new RpcError(code, `MCP error ${code}: ${message}`, data);
}

/**
 * Drops the `task` of a request. Waygate declares no task capability, so the request counts as a plain one (2025-11-25,
 * Tasks).
 */
function withoutTask(message: JSONRPCMessage): JSONRPCMessage {
  if (!('method' in message) || message.params?.task === undefined) return message;
  const { task: _task, ...params } = message.params;
  return { ...message, params };
}
