import { parentPort } from 'node:worker_threads';
import { errorsOf, SchemaCompiler } from './compileSchema.ts';
import { completeEngine } from './linearPattern.ts';
import type { CheckReply, CheckRequest, ThreadMessage } from './threadProtocol.ts';

/** Runs in a thread of its own, where a schema may take any time: the caller stops waiting and kills the thread. */
const CAPACITY = 128;
const compiler = new SchemaCompiler<string>(completeEngine, CAPACITY);

parentPort?.on('message', (request: CheckRequest) => send(check(request)));
send('ready');

function check({ id, key, dialect, schema, value }: CheckRequest): CheckReply {
  try {
    const validate = compiler.validator(key, () => ({ dialect, schema: JSON.parse(schema) }));
    send({ compiled: id });
    return { id, errors: errorsOf(validate, value) };
  } catch (error) {
    return { id, failed: error instanceof RangeError ? 'it refers to itself without end' : (error as Error).message };
  }
}

function send(message: ThreadMessage): void {
  parentPort?.postMessage(message);
}
