import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { ServerConnection } from '../../src/upstream/connection/serverConnection.ts';
import { LiveCatalog, type LiveCatalogOptions } from '../../src/worker/gateway/liveCatalog.ts';
import { BROWSE_MS, LIST_MS } from '../../src/worker/gateway/modes.ts';

/** Pool of servers that start until they are removed from `unlisted`. */
function catalogOf(...names: string[]) {
  const unlisted = new Set(names);
  const connections = names.map((name) => ({
    config: { name, origin: 'user' },
    get isUnlisted() {
      return unlisted.has(name);
    },
    catalog: { tools: [], resources: [], resourceTemplates: [], prompts: [] },
    capabilities: {},
  })) as unknown as ServerConnection[];
  const options = {
    pool: { connections },
    onChanged: () => undefined,
    onRebuilt: () => undefined,
    log: () => undefined,
  } as unknown as LiveCatalogOptions;
  const catalog = new LiveCatalog(options);
  const lists = (name: string): void => {
    unlisted.delete(name);
    catalog.rebuild();
  };
  return { catalog, lists, names };
}

const NEVER = new AbortController().signal;
/** Longer than any test: a wait that ends earlier has another reason. */
const LONG_MS = 3_600_000;

describe('the wait for servers that were never listed', () => {
  it('ends when the last of them is listed', async () => {
    const { catalog, lists } = catalogOf('one', 'two');
    const order: string[] = [];
    const waited = catalog.settledOnce(LONG_MS, NEVER).then(() => order.push('waited'));
    lists('one');
    await new Promise((resolve) => setImmediate(resolve));
    order.push('one is listed');
    lists('two');
    await waited;
    expect(order).toEqual(['one is listed', 'waited']);
    catalog.stop();
  });

  it('ends when enough is there, and at a cancellation', async () => {
    const { catalog, lists } = catalogOf('one', 'two');
    let isEnough = false;
    const waited = catalog.settledOnce(LONG_MS, NEVER, () => isEnough);
    isEnough = true;
    lists('one');
    await waited;
    const abort = new AbortController();
    const cancelled = catalog.settledOnce(LONG_MS, abort.signal);
    abort.abort();
    await cancelled;
    catalog.stop();
  });

  it.each([
    ['the lists of clients', LIST_MS, 2_000],
    ['a browse', BROWSE_MS, 10_000],
  ])('of %s takes that time in all, from the first answer that waited for a server', async (_, limitMs, expected) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { catalog } = catalogOf('hangs');
    const answered: string[] = [];
    const answer = (name: string): void =>
      void catalog.settledOnce(limitMs, NEVER).then(() => answered.push(`${name} after ${performance.now()} ms`));
    answer('the first');
    await vi.advanceTimersByTimeAsync(500);
    answer('the second');
    await vi.advanceTimersByTimeAsync(20_000);
    answer('the third');
    await vi.advanceTimersByTimeAsync(0);
    expect(answered).toEqual([
      `the first after ${expected} ms`,
      `the second after ${expected} ms`,
      'the third after 20500 ms',
    ]);
    catalog.stop();
  });
});
