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
const REPEATS = 10;

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

const floor = least(() => undefined, parsed);
const warm = least(parsed, (all) => offerAll(all, true));
const cold = least(parsed, (all) => offerAll(all, false));
console.log(`${SERVERS * TOOLS} tools: parsing ${floor.toFixed(1)} ms`);
console.log(`first browse with warm pins +${warm.toFixed(1)} ms (target 5 ms)`);
console.log(`first browse with every item hashed +${cold.toFixed(1)} ms`);

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

/** Does what a start adds for pins, from the snapshots that it has parsed to the first offer: reads and compares them. */
function offerAll(all: readonly Listing[], withPins: boolean): unknown {
  const one = gate();
  return all.map((items, at) => {
    if (withPins) adoptPinsOf(items, stored[at]);
    return one.offer((listings[at] as { gated: GatedServer }).gated, items);
  });
}

/** Returns the least of some rounds: other processes only add to it. All inputs are made before the clock runs. */
function least<T>(input: () => T, work: (input: T) => unknown): number {
  const rounds = Array.from({ length: ROUNDS }, () => {
    const inputs = Array.from({ length: REPEATS }, input);
    globalThis.gc?.();
    // Kept, because the collection of earlier results would count as work.
    const kept: unknown[] = [];
    return computedMs(() => inputs.forEach((one) => void kept.push(work(one)))) / REPEATS;
  });
  return Math.min(...rounds);
}
