/**
 * Measures the time and CPU of a call through the gateway, against the same SDK client connected to the same server
 * directly, and against a bare relay of two processes: the floor of this design. All run in alternating blocks of one
 * run, so that a busy machine slows all alike. Compare ratios only.
 * `node test/bench/calls.ts [--calls N] [--json]`, after `npm run build`. Linux for CPU.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { percentile } from './measure.ts';
import { type Subject, start, useOf } from './peers/subjects.ts';

const { values } = parseArgs({ options: { calls: { type: 'string', default: '2000' }, json: { type: 'boolean' } } });
const NAMES = ['direct', 'relay', 'relay, announcing', 'Waygate, gateway', 'Waygate, passthrough'] as const;
type Name = (typeof NAMES)[number];
const FLOOR: Name = 'relay';
const TOOLS = 300;
const BLOCK = 100;
/** Compiled code of a process is fast after some thousand calls. */
const WARM_BLOCKS = 20;
const LARGE_BYTES = 1024 * 1024;
const LARGE_CALLS = 100;

const root = mkdtempSync(join(tmpdir(), 'waygate-bench-'));
const folderOf = (name: string): string => join(root, name.replace(/\W+/g, '-'));

interface Row {
  p50Ms: number;
  p99Ms: number;
  /** CPU of a block's calls: the median, which a busy moment does not move. Zero for the server itself. */
  cpuMs: number;
}

/** Runs blocks of calls, one subject after the other. */
async function alternate(
  subjects: readonly Subject[],
  calls: number,
  call: (subject: Subject) => Promise<unknown>,
): Promise<Row[]> {
  const tallies = subjects.map(() => ({ times: [] as number[], cpuMs: [] as number[] }));
  const size = Math.min(BLOCK, calls);
  for (let done = 0; done < calls; done += size) {
    for (const [i, subject] of subjects.entries()) {
      const { times, cpuMs } = tallies[i] as (typeof tallies)[number];
      const before = useOf(folderOf(subject.name))?.cpuMs ?? 0;
      for (let n = 0; n < size; n++) {
        const started = performance.now();
        await call(subject);
        times.push(performance.now() - started);
      }
      cpuMs.push(((useOf(folderOf(subject.name))?.cpuMs ?? 0) - before) / size);
    }
  }
  const sorted = (list: number[]): number[] => list.sort((a, b) => a - b);
  return tallies.map(({ times, cpuMs }) => ({
    p50Ms: percentile(sorted(times), 0.5),
    p99Ms: percentile(times, 0.99),
    cpuMs: percentile(sorted(cpuMs), 0.5),
  }));
}

function lineOf(name: Name, row: Row, direct: Row, floor: Row): string {
  const added = row.p50Ms - direct.p50Ms;
  const head = `  ${name.padEnd(21)} p50 ${row.p50Ms.toFixed(3)} ms (p99 ${row.p99Ms.toFixed(1)})`;
  if (row === direct) return head;
  const floorAdded = floor.p50Ms - direct.p50Ms;
  return (
    `${head}: +${added.toFixed(3)} ms, ${(added / floorAdded).toFixed(1)} x the floor; ` +
    `${row.cpuMs.toFixed(3)} ms CPU, ${(row.cpuMs / floor.cpuMs).toFixed(1)} x the floor`
  );
}

const subjects: Subject[] = [];
try {
  for (const name of NAMES) subjects.push(await start(name, folderOf(name), TOOLS));
  await alternate(subjects, WARM_BLOCKS * BLOCK, ({ echo }) => echo());
  const small = await alternate(subjects, Number(values.calls), ({ echo }) => echo());
  const megabyte = await alternate(subjects, LARGE_CALLS, ({ large }) => large(LARGE_BYTES));
  const named = (rows: readonly Row[]) => Object.fromEntries(NAMES.map((name, i) => [name, rows[i]]));
  if (values.json) console.log(JSON.stringify({ small: named(small), megabyte: named(megabyte) }));
  else {
    for (const [title, rows] of Object.entries({ 'small call': small, '1 MB text': megabyte })) {
      const [direct, floor] = [rows[0] as Row, rows[NAMES.indexOf(FLOOR)] as Row];
      console.log(`${title}\n${NAMES.map((name, i) => lineOf(name, rows[i] as Row, direct, floor)).join('\n')}`);
    }
  }
} finally {
  await Promise.allSettled(subjects.map(({ close }) => close()));
  rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
