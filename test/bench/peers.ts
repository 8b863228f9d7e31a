/**
 * Measures Waygate beside other gateways in front of the same server, in alternating blocks of one run, so that a busy
 * machine slows all alike. Writes the raw figures to test/bench/results/peers.json and the tables of docs/benchmarks.md.
 * `npm run bench:peers [-- --calls N --only NAME,NAME --dry]`, which installs the peers. Linux for CPU and memory.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { percentile } from './measure.ts';
import { type PeerRow, type PeerRun, peerTables } from './peers/peerTables.ts';
import { installPeers, SUBJECTS, type Subject, start, type Use, useOf } from './peers/subjects.ts';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '1500' },
    only: { type: 'string' },
    dry: { type: 'boolean', default: false },
  },
});
const TOOLS = 300;
const BLOCK = 100;
const IN_FLIGHT = 16;
const LARGE_BYTES = 1024 * 1024;
/** Calls before memory is read again, and how many of them return a large result. */
const MEMORY_CALLS = 1_200;
const LARGE_EVERY = 12;
const IDLE_MS = 5_000;

const root = mkdtempSync(join(tmpdir(), 'waygate-peers-'));
const calls = Number(values.calls);
const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
const only = values.only?.split(',');
const names = SUBJECTS.filter((name) => only === undefined || name === 'direct' || only.includes(name));
const folderOf = (name: string): string => join(root, name.replace(/\W+/g, '-'));

interface Tally {
  times: number[];
  browse: number[];
  sequentialCpuMs: number;
  parallelMs: number;
  parallelCpuMs: number;
  parallelCalls: number;
}

async function timed(times: number[], run: () => Promise<unknown>): Promise<void> {
  const started = performance.now();
  await run();
  times.push(performance.now() - started);
}

async function sequential({ name, echo }: Subject, tally: Tally): Promise<void> {
  const before = useOf(folderOf(name))?.cpuMs ?? 0;
  for (let i = 0; i < BLOCK; i++) await timed(tally.times, echo);
  tally.sequentialCpuMs += (useOf(folderOf(name))?.cpuMs ?? 0) - before;
}

async function parallel({ name, echo }: Subject, tally: Tally): Promise<void> {
  const before = useOf(folderOf(name))?.cpuMs ?? 0;
  const started = performance.now();
  let left = BLOCK * 2;
  const loop = async (): Promise<void> => {
    while (left-- > 0) await echo();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, loop));
  tally.parallelMs += performance.now() - started;
  tally.parallelCpuMs += (useOf(folderOf(name))?.cpuMs ?? 0) - before;
  tally.parallelCalls += BLOCK * 2;
}

async function browse({ name, client }: Subject, tally: Tally): Promise<void> {
  if (!name.startsWith('Waygate') || name.includes('passthrough')) return;
  for (let i = 0; i < 20; i++) {
    const query = `price of inventory entry ${tally.browse.length * 7}`;
    await timed(tally.browse, () => client.callTool({ name: 'tool_browse', arguments: { query } }));
  }
}

async function useAfterCalls({ name, echo, large }: Subject): Promise<Use | undefined> {
  for (let i = 0; i < MEMORY_CALLS; i++) await (i % LARGE_EVERY === 0 ? large(LARGE_BYTES) : echo());
  await pause(IDLE_MS);
  return useOf(folderOf(name));
}

function rowOf(name: string, tally: Tally, idle: Use | undefined, used: Use | undefined): PeerRow {
  const sorted = (times: number[]): number[] => times.sort((a, b) => a - b);
  return {
    name,
    p50Ms: percentile(sorted(tally.times), 0.5),
    p95Ms: percentile(tally.times, 0.95),
    ...(tally.browse.length > 0 && { browseP50Ms: percentile(sorted(tally.browse), 0.5) }),
    cpuMsPerCall: tally.sequentialCpuMs / tally.times.length,
    parallelCpuMsPerCall: tally.parallelCpuMs / tally.parallelCalls,
    callsPerSecond: (1_000 * tally.parallelCalls) / tally.parallelMs,
    idle,
    used,
  };
}

installPeers();
const loadBefore = loadavg()[0] as number;
const subjects: Subject[] = [];
const rows: PeerRow[] = [];
try {
  for (const name of names) subjects.push(await start(name, folderOf(name), TOOLS));
  await pause(IDLE_MS);
  const idle = names.map((name) => useOf(folderOf(name)));
  const blank = (): Tally => ({
    times: [],
    browse: [],
    sequentialCpuMs: 0,
    parallelMs: 0,
    parallelCpuMs: 0,
    parallelCalls: 0,
  });
  for (const subject of subjects) {
    const warm = blank();
    for (let n = 0; n < 3; n++) await sequential(subject, warm);
    await browse(subject, warm);
  }
  const tallies = names.map(blank);
  for (let done = 0; done < calls; done += BLOCK) {
    for (const run of [sequential, browse, parallel]) {
      for (const [i, subject] of subjects.entries()) await run(subject, tallies[i] as Tally);
    }
  }
  for (const [i, subject] of subjects.entries()) {
    const used = await useAfterCalls(subject);
    rows.push(rowOf(subject.name, tallies[i] as Tally, idle[i], used));
  }
} finally {
  await Promise.allSettled(subjects.map(({ close }) => close()));
  rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

const report: PeerRun = {
  date: new Date().toISOString().slice(0, 10),
  node: process.version,
  processor: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
  load: [loadBefore, loadavg()[0] as number],
  tools: TOOLS,
  calls,
  inFlight: IN_FLIGHT,
  rows,
};
const tables = peerTables(report);
console.log(tables);
if (!values.dry) {
  const results = join(import.meta.dirname, 'results');
  mkdirSync(results, { recursive: true });
  writeFileSync(join(results, 'peers.json'), `${JSON.stringify(report, undefined, 2)}\n`);
  const page = join(import.meta.dirname, '..', '..', 'docs', 'benchmarks.md');
  const parts = /(<!-- made by npm run bench:peers: begin -->\n)[\s\S]*(<!-- made by npm run bench:peers: end -->)/;
  writeFileSync(
    page,
    readFileSync(page, 'utf8').replace(parts, (_, begin, end) => `${begin}${tables}\n${end}`),
  );
}
