/**
 * Measures how well and how fast a query finds its tool:
 *   npm run bench:browse -- --tools FILE [--queries FILE] [--recall] [--copies N] [--json]
 * Omit `--queries` for a file that contains both. `--recall` counts the share of the accepted tools (or groups of
 * alternatives) that were found, as the public sets do, and is the default for files with both; without it one accepted
 * tool is enough. `--copies N` repeats the catalog under N times as many servers: three copies of the real catalog have
 * about 10,000 tools. `--distinct` keeps the copies from being clones of one another.
 */
import { parseArgs } from 'node:util';
import { type DataSet, loadDataSet, replicate } from './dataSet.ts';
import { ENGINES, type Engine } from './engines.ts';
import { judge, percentile, type Share } from './measure.ts';

const BUILDS = 3;
const QUERY_ROUNDS = 5;
const TOP = 10;

interface Report extends Omit<Share, 'count'> {
  byKind: Record<string, Omit<Share, 'count'>>;
  buildMs: number;
  p50Us: number;
  p99Us: number;
  /** Heap and array buffers above those of the process without an index. */
  heapMb: number;
}

function memoryMb(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return (heapUsed + arrayBuffers) / 1e6;
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

function measure(engine: Engine, data: DataSet, recall: boolean): Report {
  const before = memoryMb();
  let search = engine.build(data);
  const heapMb = memoryMb() - before;
  let buildMs = Number.POSITIVE_INFINITY;
  for (let i = 0; i < BUILDS; i++) {
    const start = performance.now();
    search = engine.build(data);
    buildMs = Math.min(buildMs, performance.now() - start);
  }
  const results = data.queries.map(({ text }) => search(text, TOP));
  const times: number[] = [];
  for (let i = 0; i < QUERY_ROUNDS; i++) {
    for (const { text } of data.queries) {
      const start = performance.now();
      search(text, TOP);
      times.push((performance.now() - start) * 1_000);
    }
  }
  times.sort((a, b) => a - b);
  const { count: _, ...share } = judge(results, data.queries, recall);
  const byKind: Report['byKind'] = {};
  for (const kind of new Set(data.queries.map((query) => query.kind))) {
    const places = [...data.queries.keys()].filter((place) => data.queries[place]?.kind === kind);
    const part = judge(
      places.map((place) => results[place] ?? []),
      places.map((place) => data.queries[place] as DataSet['queries'][number]),
      recall,
    );
    byKind[kind] = { at1: part.at1, at5: part.at5, at10: part.at10, mrr: part.mrr };
  }
  return {
    ...share,
    byKind,
    buildMs: round(buildMs, 1),
    p50Us: round(percentile(times, 0.5), 1),
    p99Us: round(percentile(times, 0.99), 1),
    heapMb: round(Math.max(0, heapMb), 1),
  };
}

function print(data: DataSet, reports: Record<string, Report>): void {
  console.log(
    `${data.name}: ${data.tools.length} tools of ${data.servers.length} servers, ${data.queries.length} queries`,
  );
  console.log('engine        at 1   at 5  at 10    mrr   build ms   p50 us   p99 us   MB');
  for (const [name, report] of Object.entries(reports)) {
    const shares = [report.at1, report.at5, report.at10, report.mrr]
      .map((value) => value.toFixed(3).padStart(6))
      .join(' ');
    const costs = `${report.buildMs.toFixed(0).padStart(9)} ${report.p50Us.toFixed(0).padStart(8)} ${report.p99Us.toFixed(0).padStart(8)} ${report.heapMb.toFixed(0).padStart(4)}`;
    console.log(`${name.padEnd(11)} ${shares}  ${costs}`);
    for (const [kind, part] of Object.entries(report.byKind)) {
      if (Object.keys(report.byKind).length === 1) continue;
      console.log(
        `  ${kind.padEnd(9)} ${[part.at1, part.at5, part.at10, part.mrr].map((value) => value.toFixed(3).padStart(6)).join(' ')}`,
      );
    }
  }
}

function main(): void {
  const { values } = parseArgs({
    options: {
      tools: { type: 'string' },
      queries: { type: 'string' },
      copies: { type: 'string', default: '1' },
      distinct: { type: 'boolean', default: false },
      recall: { type: 'boolean' },
      json: { type: 'boolean', default: false },
    },
  });
  const copies = Number(values.copies);
  if (values.tools === undefined || !Number.isInteger(copies) || copies < 1) {
    console.error(
      'Say which catalog to judge: npm run bench:browse -- --tools FILE [--queries FILE] [--copies N] [--json].',
    );
    process.exitCode = 2;
    return;
  }
  const loaded = loadDataSet(values.tools, values.queries);
  const data = copies > 1 ? replicate(loaded, copies, values.distinct) : loaded;
  const recall = values.recall ?? values.queries === undefined;
  const reports = Object.fromEntries(ENGINES.map((engine) => [engine.name, measure(engine, data, recall)]));
  if (values.json) console.log(JSON.stringify(reports));
  else print(data, reports);
}

main();
