import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Call on whose behalf a request goes to a server. Over Streamable HTTP a server sends the messages of a request on
 * that request's own stream, and the SDK reads the stream in the asynchronous context of the sender. The context
 * therefore identifies the call (M6.1). Stdio has no such relation.
 */
const sending = new AsyncLocalStorage<object | undefined>();
const origins = new WeakMap<object, object>();

export function sendFor<T>(origin: object | undefined, send: () => T): T {
  return sending.run(origin, send);
}

/**
 * Relates a message to the call that sent its request. For transports that read each stream in the context of the
 * sender.
 */
export function relateToSender(message: object): void {
  relate(message, currentOrigin());
}

/** Returns the call that the current code sends for. */
export function currentOrigin(): object | undefined {
  return sending.getStore();
}

/** Relates a message to a call. */
export function relate(message: object, origin: object | undefined): void {
  if (origin) origins.set(message, origin);
}

export function originOf(message: object): object | undefined {
  return origins.get(message);
}
