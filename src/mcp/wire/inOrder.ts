import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

type Deliver = (message: JSONRPCMessage) => void;

/**
 * Delivers messages in their order, and what follows a notification a microtask later. The SDK handles a notification a
 * microtask after its arrival, and an answer at once, so the last progress of a call would otherwise find no handler.
 */
export function inOrder(deliver: Deliver): Deliver {
  const arrived: JSONRPCMessage[] = [];
  let yielding = false;
  const deliverArrived = (): void => {
    yielding = false;
    for (let message = arrived.shift(); message; message = arrived.shift()) {
      deliver(message);
      if (!('method' in message) || 'id' in message) continue;
      yielding = true;
      queueMicrotask(deliverArrived);
      return;
    }
  };
  return (message) => {
    arrived.push(message);
    if (!yielding) deliverArrived();
  };
}
