import { afterAll, beforeAll, onTestFinished } from 'vitest';

type Dispose = () => unknown;

/** Set while `shared` opens something, which outlives the test that runs next. */
let opening: Dispose[] | undefined;

/** Disposes of something after its test, or after the last test that shares it. */
export function atEnd(dispose: Dispose, timeoutMs?: number): void {
  if (opening) opening.push(dispose);
  else onTestFinished(async () => void (await dispose()), timeoutMs);
}

/**
 * Opens something once for all tests of the file or of the `describe` that calls it, and disposes of it after them. For
 * tests that change nothing in it that another one reads, so that each passes alone and in any order.
 */
export function shared<T>(open: () => T | Promise<T>): () => T {
  const disposals: Dispose[] = [];
  let opened: { value: T } | undefined;
  beforeAll(async () => {
    opening = disposals;
    try {
      opened = { value: await open() };
    } finally {
      opening = undefined;
    }
  });
  afterAll(async () => {
    for (const dispose of disposals.splice(0).reverse()) await dispose();
  });
  return () => {
    if (!opened) throw new Error('It is opened before the first test: call this in a test.');
    return opened.value;
  };
}
