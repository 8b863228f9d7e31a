import { parentPort, workerData } from 'node:worker_threads';
import { knownSecrets } from '../../secrets/mask.ts';
import { RecordEngine } from './recordEngine.ts';
import type { OrderMessage, Reply, ThreadData } from './threadProtocol.ts';

/** Runs in a thread of its own: a statement of SQLite blocks the thread that makes it. */
const port = parentPort;
let engine: Promise<RecordEngine> | undefined;

port?.on('message', (message: OrderMessage) => {
  for (const [owner, values] of message.secrets ?? []) knownSecrets.learn(owner, values);
  void carryOut(message).then((reply) => {
    port.postMessage(reply);
    if ('closed' in reply) port.close();
  });
});

async function carryOut({ id, order }: OrderMessage): Promise<Reply> {
  if (order.kind === 'close') {
    await engine?.then((opened) => opened.close()).catch(() => undefined);
    return { id, closed: true };
  }
  try {
    engine ??= RecordEngine.open(workerData as ThreadData);
    const opened = await engine;
    switch (order.kind) {
      case 'get':
        return { id, answer: await opened.get(order.request) };
      case 'refresh':
        await opened.refresh();
        await opened.refresh(true);
        return { id, status: opened.status() };
      case 'purge':
        await opened.purge();
        return { id, status: opened.status() };
      case 'status':
        return { id, status: opened.status() };
    }
  } catch (error) {
    // The next request tries to open again.
    if (
      engine &&
      (await engine.then(
        () => false,
        () => true,
      ))
    )
      engine = undefined;
    return { id, error: sentenceOf(error) };
  }
}

function sentenceOf(error: unknown): string {
  const { name, message } = error as Error;
  if (name === 'RecordStoreError') return message;
  return `The records cannot be read: ${message.replace(/\.$/, '')}.`;
}
