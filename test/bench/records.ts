// Measures the embedded records over a million rows, beside plain SQLite with tables and an index for the same rows.
// Usage: node test/bench/records.ts [ROWS]

import { createWriteStream, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EmbeddedProvider } from '../../src/records/embedded/embeddedProvider.ts';
import { writeGrants } from '../../src/records/embedded/grants/grantFile.ts';
import { PseudoRandom } from '../support/pseudoRandom.ts';

const ROWS = Number(process.argv[2] ?? 1_000_000);
const RUNS = 30;
const SERVERS = ['files', 'github', 'postgres', 'browser', 'payments', 'search', 'mail', 'calendar'];
const WORDS = Array.from({ length: 20_000 }, (_, n) => `w${n.toString(36)}${(n * 7919).toString(36)}`);

interface Row {
  id: number;
  at: string;
  server: string;
  outcome: string;
  tokens: number;
  text: string;
}

function row(random: PseudoRandom, id: number): Row {
  // Low numbers are frequent, as words of a language are.
  const word = (): string => WORDS[Math.floor(random.next() ** 3 * WORDS.length)] as string;
  return {
    id,
    at: new Date(Date.UTC(2026, 0, 1) + id * 20_000).toISOString(),
    server: random.pick(SERVERS),
    outcome: random.below(20) === 0 ? 'error' : 'ok',
    tokens: random.below(5_000),
    text: `${word()} ${word()} ${word()} ${word()} ${word()} ${word()}`,
  };
}

async function writeRows(file: string): Promise<void> {
  const random = new PseudoRandom(1);
  const out = createWriteStream(file);
  for (let id = 1; id <= ROWS; id += 1) {
    if (!out.write(`${JSON.stringify(row(random, id))}\n`))
      await new Promise<void>((resolve) => out.once('drain', () => resolve()));
  }
  await new Promise((resolve) => out.end(() => resolve(undefined)));
}

/** Plain SQLite: one table and one index of words, filled with prepared statements in one transaction per 10,000 rows. */
function plainDatabase(file: string): DatabaseSync {
  const db = new DatabaseSync(file);
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    CREATE TABLE rows (id INTEGER PRIMARY KEY, at TEXT, server TEXT, outcome TEXT, tokens INTEGER, text TEXT);
    CREATE INDEX by_server ON rows (server, at); CREATE INDEX by_outcome ON rows (outcome, at); CREATE INDEX by_at ON rows (at, id);
    CREATE VIRTUAL TABLE words USING fts5(text, content='rows', content_rowid='id')`);
  const insert = db.prepare('INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?)');
  const index = db.prepare('INSERT INTO words (rowid, text) VALUES (?, ?)');
  const random = new PseudoRandom(1);
  for (let id = 1; id <= ROWS; id += 1) {
    if (id % 10_000 === 1) db.exec(id === 1 ? 'BEGIN' : 'COMMIT; BEGIN');
    const { at, server, outcome, tokens, text } = row(random, id);
    insert.run(id, at, server, outcome, tokens, text);
    index.run(BigInt(id), text);
  }
  db.exec('COMMIT');
  return db;
}

const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1] as number;
const p95 = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.95)] as number;
const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(0)} MB`;

async function timed(run: () => unknown): Promise<number> {
  const begin = performance.now();
  await run();
  return performance.now() - begin;
}

const folder = mkdtempSync(join(tmpdir(), 'waygate-bench-records-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const stateFolder = join(folder, 'state');
const data = join(folder, 'data');
for (const one of [stateFolder, data]) mkdirSync(one, { mode: 0o700 });
const file = join(data, 'rows.jsonl');
await writeRows(file);
const source = { kind: 'folder', path: data, name: 'data' } as const;
writeGrants(stateFolder, [{ id: 'g', connection: 'data', source, streams: 'all', created: new Date().toISOString() }]);
const provider = new EmbeddedProvider({ stateFolder, stateRoot: folder, workspace: 'bench', home: folder });
const get = async (target: string): Promise<{ data?: unknown[]; value?: unknown; meta?: { count?: unknown } }> => {
  const url = new URL(target, 'http://records.invalid');
  const { status, body } = await provider.get({ path: url.pathname, query: [...url.searchParams] });
  if (status !== 200) throw new Error(`${target}: ${JSON.stringify(body)}`);
  return body as { data?: unknown[] };
};

console.log(
  `${ROWS.toLocaleString('en')} rows, ${megabytes(statSync(file).size)} of JSONL; Node ${process.versions.node}`,
);
/** CPU time of the main thread in its longest turn: wall time would count other processes of a busy machine. */
let longestTurn = 0;
const turnCpu = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};
let lastTurn = turnCpu();
const turns = setInterval(() => {
  const now = turnCpu();
  longestTurn = Math.max(longestTurn, now - lastTurn);
  lastTurn = now;
}, 1);
const before = process.memoryUsage().rss;
let peak = before;
const sampler = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage().rss);
}, 100);
const cpu = process.cpuUsage();
const loadMs = await timed(() => provider.refresh());
const used = process.cpuUsage(cpu);
clearInterval(sampler);
console.log(
  `load: ${(loadMs / 1_000).toFixed(1)} s (CPU ${((used.user + used.system) / 1e6).toFixed(1)} s), memory at most +${megabytes(peak - before)}`,
);
console.log(`load: longest turn of the main thread ${longestTurn.toFixed(1)} ms of CPU`);
console.log(`database: ${megabytes((await provider.status()).bytes)}`);

const plainBegin = process.cpuUsage();
let plain!: DatabaseSync;
const plainMs = await timed(() => {
  plain = plainDatabase(join(folder, 'plain.db'));
});
const plainCpu = process.cpuUsage(plainBegin);
console.log(
  `plain SQLite: load ${(plainMs / 1_000).toFixed(1)} s (CPU ${((plainCpu.user + plainCpu.system) / 1e6).toFixed(1)} s), ${megabytes(statSync(join(folder, 'plain.db')).size)}`,
);

const random = new PseudoRandom(2);
const rare = (): string => WORDS[5_000 + random.below(10_000)] as string;
const frequent = WORDS[3] as string;
const from = (): string => new Date(Date.UTC(2026, 0, 1) + random.below(ROWS) * 20_000).toISOString();

/** Questions with their limits in milliseconds, and the same in SQL by hand. */
const QUESTIONS: { name: string; limit: number; ask(): Promise<unknown>; sql(): unknown }[] = [
  {
    name: 'search, a rare word',
    limit: 50,
    ask: () => get(`/v1/search?q=${rare()}&limit=25`),
    sql: () =>
      plain
        .prepare(
          "SELECT id, at, snippet(words, 0, '<', '>', '…', 24) FROM words JOIN rows ON id = words.rowid WHERE words MATCH ? ORDER BY rank LIMIT 25",
        )
        .all(`"${rare()}"`),
  },
  {
    name: 'search, two words',
    limit: 50,
    ask: () => get(`/v1/search?q=${frequent}+${rare()}&limit=25`),
    sql: () =>
      plain
        .prepare(
          "SELECT id, at, snippet(words, 0, '<', '>', '…', 24) FROM words JOIN rows ON id = words.rowid WHERE words MATCH ? ORDER BY rank LIMIT 25",
        )
        .all(`"${frequent}" "${rare()}"`),
  },
  {
    name: 'search, the most frequent word',
    limit: 50,
    ask: () => get(`/v1/search?q=${WORDS[0]}&limit=25`),
    sql: () =>
      plain
        .prepare(
          "SELECT id, at, snippet(words, 0, '<', '>', '…', 24) FROM words JOIN rows ON id = words.rowid WHERE words MATCH ? ORDER BY rank LIMIT 25",
        )
        .all(`"${WORDS[0]}"`),
  },
  {
    name: 'page, filtered by server and time',
    limit: 20,
    ask: () => get(`/v1/streams/rows/records?limit=25&filter[server]=github&filter[at][lt]=${from()}`),
    sql: () =>
      plain.prepare("SELECT * FROM rows WHERE server = 'github' AND at < ? ORDER BY at DESC LIMIT 26").all(from()),
  },
  {
    name: 'page, filtered by a number',
    limit: 20,
    ask: () => get('/v1/streams/rows/records?limit=25&filter[tokens][gte]=4900'),
    sql: () => plain.prepare('SELECT * FROM rows WHERE tokens >= 4900 ORDER BY at DESC LIMIT 26').all(),
  },
  {
    name: 'aggregate, count by server',
    limit: 300,
    ask: () => get('/v1/streams/rows/aggregate?metric=count&group_by=server'),
    sql: () => plain.prepare('SELECT server, count(*) FROM rows GROUP BY server').all(),
  },
  {
    name: 'aggregate, tokens of errors',
    limit: 300,
    ask: () => get('/v1/streams/rows/aggregate?metric=sum&field=tokens&filter[outcome]=error'),
    sql: () => plain.prepare("SELECT count(*), sum(tokens) FROM rows WHERE outcome = 'error'").all(),
  },
  {
    name: 'aggregate, tokens by server, all rows',
    limit: 300,
    ask: () => get('/v1/streams/rows/aggregate?metric=sum&field=tokens&group_by=server'),
    sql: () => plain.prepare('SELECT server, count(*), sum(tokens) FROM rows GROUP BY server').all(),
  },
  {
    name: 'aggregate, count by month',
    limit: 300,
    ask: () => get('/v1/streams/rows/aggregate?metric=count&group_by_time=at&granularity=month'),
    sql: () => plain.prepare('SELECT substr(at, 1, 7), count(*) FROM rows GROUP BY 1').all(),
  },
];

/** CPU time of all threads for one answer, which other processes do not change. */
async function cpuOf(run: () => unknown): Promise<number> {
  const begin = process.cpuUsage();
  await run();
  const { user, system } = process.cpuUsage(begin);
  return (user + system) / 1_000;
}

longestTurn = 0;
lastTurn = turnCpu();
for (const { name, limit, ask, sql } of QUESTIONS) {
  const own: number[] = [];
  const wall: number[] = [];
  const byHand: number[] = [];
  await ask();
  sql();
  for (let run = 0; run < RUNS; run += 1) {
    byHand.push(await cpuOf(sql));
    lastTurn = turnCpu();
    own.push(await cpuOf(async () => wall.push(await timed(ask))));
  }
  const verdict = median(own) < limit ? 'ok' : 'TOO SLOW';
  const figures = `CPU p50 ${median(own).toFixed(1)} ms, p95 ${p95(own).toFixed(1)} ms; wall p50 ${median(wall).toFixed(1)} ms`;
  console.log(
    `${name}: ${figures}; plain SQLite CPU p50 ${median(byHand).toFixed(1)} ms; limit ${limit} ms: ${verdict}`,
  );
}
clearInterval(turns);
console.log(`questions: longest turn of the main thread ${longestTurn.toFixed(1)} ms of CPU`);
plain.close();
await provider.dispose();
