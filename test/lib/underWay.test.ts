import { expect, it } from 'vitest';
import { UnderWay } from '../../src/lib/underWay.ts';

it('is over when all that was added has ended, and what failed keeps nothing from following', async () => {
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

it('keeps nothing of what is over: a server that is killed for a year leaves no trace', async () => {
  const underWay = new UnderWay();
  for (const result of ['first', 'second', 'third']) underWay.add(Promise.resolve(result));
  // Whatever this resolves to is held until the next one is over, with all that it holds itself.
  expect(await underWay.over).toBeUndefined();
});
