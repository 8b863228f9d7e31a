import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import {
  type CancellationToken,
  CancellationTokenSource,
  createMessageConnection,
  ErrorCodes,
  type MessageConnection,
  NullLogger,
  RequestType,
  ResponseError,
  SocketMessageReader,
  SocketMessageWriter,
} from 'vscode-jsonrpc/node';
import type { CallRecord, Refreshed } from './activityContract.ts';
import { type ControlClient, GatewayGoneError, OutdatedGatewayError } from './client.ts';
import type {
  ApprovalQuestion,
  ApprovalVerdict,
  ControlNotifications,
  ControlRequests,
  SecretAnswer,
  SecretRequest,
} from './contract.ts';

/** The two ends of the control channel, over a socket after its handshake. vscode-jsonrpc carries the messages. */

export type ControlHandlers = {
  [M in keyof ControlRequests]: (
    params: ControlRequests[M]['params'],
    /** Aborts when the other end cancels the request or leaves. */
    signal: AbortSignal,
  ) => ControlRequests[M]['result'] | Promise<ControlRequests[M]['result']>;
};

/** Questions of the worker to a watcher. Functions, because a worker that nobody watches does not load vscode-jsonrpc. */
const approveRequest = () => new RequestType<ApprovalQuestion, ApprovalVerdict, void>('approve');
const secretRequest = () => new RequestType<SecretRequest, SecretAnswer, void>('secret');
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
  calls(calls: readonly CallRecord[]): void;
  refreshed(refreshed: Refreshed): void;
  /** Asks the user at the other end, and withdraws the question when the signal aborts. */
  approve(question: ApprovalQuestion, signal?: AbortSignal): Promise<ApprovalVerdict>;
  /** Reads from or writes to the store of the other end. */
  secret(request: SecretRequest): Promise<SecretAnswer>;
  /** Announces that another worker serves from now on. */
  supersede(): void;
  onClose(listener: () => void): void;
  dispose(): void;
}

export function connectControl(socket: Socket): ControlClient {
  const connection = connectionOn(socket);
  const closed = new Set<() => void>();
  const listenersOf = <M extends keyof ControlNotifications>(method: M) => {
    const listeners = new Set<(params: ControlNotifications[M]) => void>();
    connection.onNotification(method as string, (params: ControlNotifications[M]) => {
      for (const listener of listeners) listener(params);
    });
    return listeners;
  };
  const snapshots = listenersOf('snapshot');
  const calls = listenersOf('calls');
  const refreshed = listenersOf('refreshed');
  const superseded = listenersOf('superseded');
  let answer: Parameters<ControlClient['onApproval']>[0] = () => Promise.resolve('unavailable');
  connection.onRequest(approveRequest(), (question, token) => answer(question, signalOf(token).signal));
  let keep: Parameters<ControlClient['onSecret']>[0] = async () => ({ kept: false });
  connection.onRequest(secretRequest(), (request) => keep(request));
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
    request: async (method, params, signal) => {
      try {
        return await sendCancellable(connection, method, params, signal);
      } catch (error) {
        if (socket.destroyed) throw new GatewayGoneError();
        const isUnknown = error instanceof ResponseError && error.code === ErrorCodes.MethodNotFound;
        throw isUnknown ? new OutdatedGatewayError() : error;
      }
    },
    onSnapshot: (listener) => void snapshots.add(listener),
    onCalls: (listener) => void calls.add((batch) => listener(batch.calls)),
    onRefreshed: (listener) => void refreshed.add(listener),
    onApproval: (answers) => {
      answer = answers;
    },
    onSecret: (answers) => {
      keep = answers;
    },
    onSuperseded: (listener) => void superseded.add(() => listener()),
    onClose: (listener) => void closed.add(listener),
    dispose: () => close(connection, socket),
  };
}

export function serveControl(socket: Socket, handlers: ControlHandlers): ControlServer {
  const connection = connectionOn(socket);
  const open = new Set<AbortController>();
  for (const method of Object.keys(handlers) as (keyof ControlHandlers)[]) {
    const handler = handlers[method] as (params: unknown, signal: AbortSignal) => unknown;
    connection.onRequest(method, async (params: unknown, token: CancellationToken) => {
      const running = signalOf(token);
      open.add(running);
      try {
        return await handler(params, running.signal);
      } finally {
        open.delete(running);
      }
    });
  }
  onceClosed(socket, () => {
    connection.dispose();
    for (const running of open) running.abort();
  });
  /** A watcher that leaves during a question has not answered it. */
  const asked = async <Q, A>(
    type: RequestType<Q, A, void>,
    question: Q,
    unanswered: A,
    signal?: AbortSignal,
  ): Promise<A> => {
    if (socket.destroyed) return unanswered;
    return sendCancellable<A>(connection, type.method, question, signal).catch(() => unanswered);
  };
  const say = <M extends keyof ControlNotifications>(method: M, params: ControlNotifications[M]): void => {
    if (!socket.destroyed) void connection.sendNotification(method as string, params).catch(() => undefined);
  };
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
    supersede: () => say('superseded', {}),
    calls: (calls) => say('calls', { calls }),
    refreshed: (news) => say('refreshed', news),
    approve: (question, signal) => asked(approveRequest(), question, 'unavailable', signal),
    secret: (request) => {
      const nobody: SecretAnswer = { kept: false };
      const over = new AbortController();
      const timeout = sleep(SECRET_TIMEOUT_MS, nobody, { ref: false, signal: over.signal }).catch(() => nobody);
      return Promise.race([asked(secretRequest(), request, nobody), timeout]).finally(() => over.abort());
    },
    onClose: (listener) => onceClosed(socket, listener),
    dispose: () => close(connection, socket),
  };
}

/** Sends a request. An abort cancels the request at the other end, and rejects it here without waiting for that end. */
async function sendCancellable<A>(
  connection: MessageConnection,
  method: string,
  params: unknown,
  signal: AbortSignal | undefined,
): Promise<A> {
  if (!signal) return connection.sendRequest<A>(method, params);
  signal.throwIfAborted();
  const source = new CancellationTokenSource();
  let cancel = (): void => undefined;
  const cancelled = new Promise<never>((_, reject) => {
    cancel = () => {
      source.cancel();
      reject(signal.reason);
    };
  });
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return await Promise.race([connection.sendRequest<A>(method, params, source.token), cancelled]);
  } finally {
    signal.removeEventListener('abort', cancel);
    source.dispose();
  }
}

function signalOf(token: CancellationToken): AbortController {
  const controller = new AbortController();
  token.onCancellationRequested(() => controller.abort());
  return controller;
}

function connectionOn(socket: Socket): MessageConnection {
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
