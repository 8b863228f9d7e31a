/**
 * Measures the scan: `node test/bench/scan.ts` (`npm run bench:scan`). Reads the listings of real servers where they
 * lie beside the clone, otherwise generated ones. Times are CPU times of this thread. The floor is what a pin costs:
 * canonical JSON and SHA-256 of the same tools.
 */
import { canonicalJson } from '../../src/catalog/canonicalJson.ts';
import { sha256 } from '../../src/catalog/shapeHash.ts';
import { OtherTools } from '../../src/trust/scan/names.ts';
import { type Pinned, ScanCache, scanText, scanTool } from '../../src/trust/scan/scan.ts';
import { sampleListings } from '../catalog/sampleListings.ts';
import { computedMs } from '../support/computedMs.ts';
import { percentile } from './measure.ts';

const ROUNDS = 5;
const MB = 1_000_000;

const tools: Pinned[] = sampleListings().flatMap(({ server, tools: listed }) =>
  listed.map((one) => ({ server, listed: one as object, pin: sha256(canonicalJson(one)) })),
);
const others = new OtherTools(
  tools.map(({ server, listed }) => ({ server, name: String((listed as { name: unknown }).name) })),
);
const chars = tools.reduce((sum, { listed }) => sum + JSON.stringify(listed).length, 0);
console.log(`${tools.length} tools, ${(chars / MB).toFixed(1)} million characters`);

const floor = perTool(() => tools.map(({ listed }) => sha256(canonicalJson(listed))));
const scan = perTool(() => tools.map(({ server, listed }) => scanTool(listed, server, others)));
const cache = new ScanCache();
Array.from(cache.scan(tools, others));
const cached = perTool(() => Array.from(cache.scan(tools, others)));
const each = tools.map(({ server, listed }) => shortest(() => scanTool(listed, server, others))).sort((a, b) => a - b);

console.log(`floor     ${floor.toFixed(4)} ms a tool`);
console.log(`scan      ${scan.toFixed(4)} ms a tool, ${(scan / floor).toFixed(1)} times the floor`);
console.log(`cached    ${cached.toFixed(4)} ms a tool`);
console.log(`one tool  p50 ${show(0.5)}, p95 ${show(0.95)}, p99 ${show(0.99)}, longest ${show(1)}`);
for (const unit of ['a', 'ignore previous ', '忽略所有', '<!-- a', 'send to a', '\u202e']) {
  const text = unit.repeat(Math.ceil(MB / unit.length)).slice(0, MB);
  console.log(`1 MB of ${JSON.stringify(unit)}: ${computedMs(() => scanText('result', text)).toFixed(0)} ms`);
}

/** Returns the shortest of some times. CPU time is counted in ticks that are longer than a scan. */
function shortest(work: () => unknown): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const began = performance.now();
    work();
    return performance.now() - began;
  });
  return Math.min(...times);
}

/** Returns the least of some rounds: other processes only add to it. */
function perTool(work: () => unknown): number {
  return Math.min(...Array.from({ length: ROUNDS }, () => computedMs(work))) / tools.length;
}

function show(share: number): string {
  return `${percentile(each, share).toFixed(2)} ms`;
}
