import { parentPort } from 'node:worker_threads';
import { errorsOf, SchemaCompiler } from './compileSchema.ts';
import { completeEngine } from './linearPattern.ts';
import type { CheckReply, CheckRequest, ThreadMessage } from './threadProtocol.ts';

/** Runs in a thread of its own, where a schema may take as long as it likes: whoever asked does not wait for ever. */
const CAPACITY = 128;
const compiler = new SchemaCompiler<string>(completeEngine, CAPACITY);

parentPort?.on('message', (request: CheckRequest) => say(check(request)));
say('ready');

function check({ id, key, dialect, schema, value }: CheckRequest): CheckReply {
  try {
    const validate = compiler.validator(key, () => ({ dialect, schema: JSON.parse(schema) }));
    say({ compiled: id });
    return { id, errors: errorsOf(validate, value) };
  } catch (error) {
    return { id, failed: error instanceof RangeError ? 'it leads back to itself' : (error as Error).message };
  }
}

function say(message: ThreadMessage): void {
  parentPort?.postMessage(message);
}
