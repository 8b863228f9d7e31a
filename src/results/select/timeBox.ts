import { Script } from 'node:vm';

export class TimeBoxError extends Error {
  override readonly name = 'TimeBoxError';
}

interface Box {
  run: () => unknown;
  result: unknown;
}

const CALL = new Script('box => { box.result = box.run(); }').runInThisContext() as (box: Box) => void;
const KEY = Symbol.for('waygate.timeBox');
const ENTER = new Script(`(({ call, box }) => call(box))(globalThis[Symbol.for('waygate.timeBox')])`);

/**
 * Runs what is synchronous, and ends it when it takes longer: V8 can stop running code, which nothing written in it
 * can. For code of ours over questions of others; it must leave nothing half-done behind.
 */
export function timeBoxed<T>(ms: number, run: () => T): T {
  const box: Box = { run, result: undefined };
  const store = globalThis as unknown as Record<symbol, unknown>;
  store[KEY] = { call: CALL, box };
  try {
    ENTER.runInThisContext({ timeout: ms });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      throw new TimeBoxError(`took longer than ${ms} ms`);
    }
    throw error;
  } finally {
    delete store[KEY];
  }
  return box.result as T;
}
