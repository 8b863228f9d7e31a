import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import {
  createMessageConnection,
  type MessageConnection,
  NullLogger,
  RequestType,
  SocketMessageReader,
  SocketMessageWriter,
} from 'vscode-jsonrpc/node';
import { type ControlClient, GatewayGoneError } from './client.ts';
import type {
  ApprovalQuestion,
  ApprovalVerdict,
  ControlNotifications,
  ControlRequests,
  SecretAnswer,
  SecretRequest,
} from './contract.ts';

/** The two ends of the control channel, over a socket after its handshake. vscode-jsonrpc carries the messages. */

/** Requests that this worker does not answer yet. */
type Planned =
  | 'calls'
  | 'call'
  | 'cancelCall'
  | 'clearCalls'
  | 'limits'
  | 'artifacts'
  | 'readArtifact'
  | 'selectArtifact'
  | 'deleteArtifacts'
  | 'tool'
  | 'paths'
  | 'startServer'
  | 'stopServer'
  | 'restartServer'
  | 'serverLog';

export type ControlHandlers = {
  [M in Exclude<keyof ControlRequests, Planned>]: (
    params: ControlRequests[M]['params'],
  ) => ControlRequests[M]['result'] | Promise<ControlRequests[M]['result']>;
};

/** Questions of the worker to a watcher. */
const APPROVE = new RequestType<ApprovalQuestion, ApprovalVerdict, void>('approve');
const SECRET = new RequestType<SecretRequest, SecretAnswer, void>('secret');
/** Keeps an editor with hanging extensions from delaying a server's start. */
const SECRET_TIMEOUT_MS = 10_000;
/**
 * Turns of the event loop between the end of the socket and that of the connection. vscode-jsonrpc handles one message a
 * turn, and an answer may wait behind snapshots.
 */
const QUEUED_TURNS = 16;

export interface ControlServer {
  /** Resolves when the snapshot was sent or the connection ended. */
  notify(snapshot: ControlNotifications['snapshot']): Promise<void>;
  /** Asks the user at the other end. */
  approve(question: ApprovalQuestion): Promise<ApprovalVerdict>;
  /** Reads from or writes to the store of the other end. */
  secret(request: SecretRequest): Promise<SecretAnswer>;
  /** Announces that another worker serves from now on. */
  supersede(): void;
  onClose(listener: () => void): void;
  dispose(): void;
}

export function connectControl(socket: Socket): ControlClient {
  const connection = open(socket);
  const snapshots = new Set<(snapshot: ControlNotifications['snapshot']) => void>();
  const closed = new Set<() => void>();
  connection.onNotification('snapshot', (snapshot: ControlNotifications['snapshot']) => {
    for (const listener of snapshots) listener(snapshot);
  });
  const superseded = new Set<() => void>();
  connection.onNotification('superseded', () => {
    for (const listener of superseded) listener();
  });
  let answer: Parameters<ControlClient['onApproval']>[0] = () => Promise.resolve('unavailable');
  connection.onRequest(APPROVE, (question) => answer(question));
  let keep: Parameters<ControlClient['onSecret']>[0] = async () => ({ kept: false });
  connection.onRequest(SECRET, (request) => keep(request));
  onceClosed(socket, async () => {
    for (let turn = 0; turn < QUEUED_TURNS; turn++) await nextTurn();
    // Only a disposed connection rejects the requests without an answer.
    connection.dispose();
    for (const listener of closed) listener();
  });
  connection.listen();
  // The handshake left the socket paused.
  socket.resume();
  return {
    // A closed connection throws at once. The caller gets a rejection, as after any other loss.
    request: async (method, params) => {
      try {
        return await connection.sendRequest(method, params);
      } catch (error) {
        throw socket.destroyed ? new GatewayGoneError() : error;
      }
    },
    onSnapshot: (listener) => void snapshots.add(listener),
    onApproval: (answers) => {
      answer = answers;
    },
    onSecret: (answers) => {
      keep = answers;
    },
    onSuperseded: (listener) => void superseded.add(listener),
    onClose: (listener) => void closed.add(listener),
    dispose: () => close(connection, socket),
  };
}

export function serveControl(socket: Socket, handlers: ControlHandlers): ControlServer {
  const connection = open(socket);
  for (const method of Object.keys(handlers) as (keyof ControlHandlers)[]) {
    const handler = handlers[method] as (params: unknown) => unknown;
    connection.onRequest(method, (params: unknown) => handler(params));
  }
  // A watcher that leaves during a question has not answered it.
  onceClosed(socket, () => connection.dispose());
  /** A watcher that leaves during a question has not answered it. */
  const asked = async <Q, A>(type: RequestType<Q, A, void>, question: Q, unanswered: A): Promise<A> =>
    socket.destroyed ? unanswered : connection.sendRequest<A>(type.method, question).catch(() => unanswered);
  connection.listen();
  // The handshake left the socket paused.
  socket.resume();
  return {
    notify: async (snapshot) => {
      if (socket.destroyed) return;
      try {
        await connection.sendNotification('snapshot', snapshot);
      } catch {
        // The watcher has gone; `onClose` reports that.
      }
    },
    // The other end closes the connection: a message right before a close may not arrive.
    supersede: () => {
      if (!socket.destroyed) void connection.sendNotification('superseded', {}).catch(() => undefined);
    },
    approve: (question) => asked(APPROVE, question, 'unavailable'),
    secret: (request) => {
      const nobody: SecretAnswer = { kept: false };
      const over = new AbortController();
      const timeout = sleep(SECRET_TIMEOUT_MS, nobody, { ref: false, signal: over.signal }).catch(() => nobody);
      return Promise.race([asked(SECRET, request, nobody), timeout]).finally(() => over.abort());
    },
    onClose: (listener) => onceClosed(socket, listener),
    dispose: () => close(connection, socket),
  };
}

function open(socket: Socket): MessageConnection {
  const connection = createMessageConnection(
    new SocketMessageReader(socket),
    new SocketMessageWriter(socket),
    NullLogger,
  );
  connection.onError(() => socket.destroy());
  return connection;
}

function close(connection: MessageConnection, socket: Socket): void {
  connection.dispose();
  socket.destroy();
}

function onceClosed(socket: Socket, listener: () => unknown): void {
  if (socket.destroyed) queueMicrotask(() => void listener());
  else socket.once('close', () => void listener());
}
