/**
 * Measures what pins cost: `node test/bench/pins.ts` (`npm run bench:pins`), with 6,000 tools of 60 servers. Times are
 * CPU times of this thread. The floor is the parsing of the same listings, which a start does in any case.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acquireLock } from '../../src/host/attach/startLock.ts';
import type { GatedServer } from '../../src/trust/pins/offer.ts';
import { adoptPinsOf, type Listing, pinsOf } from '../../src/trust/pins/pinnedItems.ts';
import { PinStore } from '../../src/trust/pins/pinStore.ts';
import { TrustGate } from '../../src/trust/pins/trustGate.ts';
import { sampleListings } from '../catalog/sampleListings.ts';
import { computedMs } from '../support/computedMs.ts';
import { percentile } from './measure.ts';

const SERVERS = 60;
const TOOLS = 100;
const CALLS = 20_000;
const ROUNDS = 7;
/** Repeats of a round: the system counts CPU time in steps of 4 ms on some machines. */
const REPEATS = 20;

const samples = sampleListings().flatMap(({ tools }) => tools as object[]);
const listings = Array.from({ length: SERVERS }, (_, server) => {
  const tools = Array.from({ length: TOOLS }, (_unused, at) => ({
    ...samples[(server * TOOLS + at) % samples.length],
    name: `tool_${server}_${at}`,
  }));
  const gated: GatedServer = { name: `server ${server}`, launch: 'a', onChange: 'block', isForeign: true };
  return { gated, text: JSON.stringify({ tools, prompts: [], resourceTemplates: [] }) };
});
const folder = mkdtempSync(join(tmpdir(), 'bench-pins-'));
const gate = (): TrustGate =>
  new TrustGate({
    store: new PinStore({ folder, lock: acquireLock }),
    scan: () => new Map(),
    isSink: () => false,
    locked: () => undefined,
    now: () => new Date(0),
    log: console.error,
    onBaseline: () => {},
    onChange: () => {},
  });

const parsed = (): Listing[] => listings.map(({ text }) => JSON.parse(text) as Listing);
const first = gate();
parsed().forEach((listing, at) => {
  first.onListed((listings[at] as { gated: GatedServer }).gated, listing, ['tools']);
});
const stored = parsed().map(pinsOf);

const [floor, warm, cold] = leastOf(
  parsed,
  () => start(true),
  () => start(false),
) as [number, number, number];
console.log(`${SERVERS * TOOLS} tools: parsing ${floor.toFixed(1)} ms`);
console.log(`first browse with warm pins +${(warm - floor).toFixed(1)} ms (target 5 ms)`);
console.log(`first browse with every item hashed +${(cold - floor).toFixed(1)} ms`);

const used = gate();
const listing = parsed()[0] as Listing;
const { gated } = listings[0] as { gated: GatedServer };
const times = Array.from({ length: CALLS }, () => {
  const began = performance.now();
  // A call asks before the policy and again before it is sent.
  for (const _ of [1, 2]) used.offer(gated, listing).tools.get('tool_0_1');
  return (performance.now() - began) * 1_000;
}).sort((a, b) => a - b);
console.log(
  `a call: p50 ${percentile(times, 0.5).toFixed(1)} µs, p95 ${percentile(times, 0.95).toFixed(1)} µs (target 20)`,
);
rmSync(folder, { recursive: true });

/** Does what a worker does from its snapshots up to the first offer. Returns what the worker keeps. */
function start(withPins: boolean): unknown {
  const one = gate();
  const all = parsed();
  all.forEach((items, at) => {
    if (withPins) adoptPinsOf(items, stored[at]);
    one.offer((listings[at] as { gated: GatedServer }).gated, items);
  });
  return [one, all];
}

/**
 * Returns the least of some rounds for each work: other processes only add to it. Rounds alternate, and all results of
 * a round are kept, so that the collection of garbage costs each work the same.
 */
function leastOf(...works: readonly (() => unknown)[]): number[] {
  const least = works.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, work] of works.entries()) {
      const kept: unknown[] = [];
      globalThis.gc?.();
      const ms = computedMs(() => {
        for (let repeat = 0; repeat < REPEATS; repeat++) kept.push(work());
      });
      least[at] = Math.min(least[at] as number, ms / REPEATS);
    }
  }
  return least;
}
