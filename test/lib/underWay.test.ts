import { expect, it } from 'vitest';
import { UnderWay } from '../../src/lib/underWay.ts';

it('is over when everything added has ended, even with failures', async () => {
  const underWay = new UnderWay();
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  underWay.add(first.promise);
  underWay.add(second.promise);
  let over = false;
  const waited = underWay.over.then(() => {
    over = true;
  });
  second.reject(new Error('it would not end'));
  await new Promise((done) => setImmediate(done));
  expect(over).toBe(false);
  first.resolve();
  await waited;
});

it('holds nothing that is over, so that endless restarts use no memory', async () => {
  const underWay = new UnderWay();
  for (const result of ['first', 'second', 'third']) underWay.add(Promise.resolve(result));
  // The promise would hold its value, and everything that refers to it, until the next one settles.
  expect(await underWay.over).toBeUndefined();
});
