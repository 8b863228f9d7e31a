import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * On whose behalf a request goes to a server. Over Streamable HTTP a server sends what belongs to a request on that
 * request's own stream, and the SDK reads that stream where the request was sent from: so the context of the sending
 * tells whose a message is. On stdio nothing tells.
 */
const sending = new AsyncLocalStorage<object | undefined>();
const origins = new WeakMap<object, object>();

export function sendFor<T>(origin: object | undefined, send: () => T): T {
  return sending.run(origin, send);
}

/** Called by a transport that reads each request's stream where the request was sent from. */
export function relateToSender(message: object): void {
  const origin = sending.getStore();
  if (origin) origins.set(message, origin);
}

export function originOf(message: object): object | undefined {
  return origins.get(message);
}
