/**
 * Measures the time from the start of a client's host to the answer of its first browse with twenty configured servers,
 * with and without stored catalogs. The floor, measured in the same rounds, is the start of a bare Node process plus
 * that of a worker without servers. Finally measures the worker's memory with six thousand tools.
 * `node test/bench/firstBrowse.ts [--rounds N] [--json]`, after `npm run build`.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { approveAll } from '../support/approveAll.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '9' }, json: { type: 'boolean' } } });
const SERVERS = 20;
const TOOLS_EACH = 300;
const [FIXTURE, CLI, WORKER] = ['test/fixtures/server.mjs', 'dist/waygate.cjs', 'dist/worker.cjs'].map((file) =>
  resolve(file),
) as [string, string, string];

const root = mkdtempSync(join(tmpdir(), 'waygate-bench-'));

interface Place {
  folder: string;
  env: NodeJS.ProcessEnv;
}

function place(name: string, tools: number): Place {
  const folder = join(root, name);
  mkdirSync(join(folder, '.vscode'), { recursive: true });
  const server = { command: process.execPath, args: [FIXTURE, '--tools', String(tools)] };
  const servers = Object.fromEntries(Array.from({ length: tools > 0 ? SERVERS : 0 }, (_, i) => [`s${i}`, server]));
  writeFileSync(join(folder, '.vscode', 'waygate.json'), JSON.stringify({ servers }));
  const env = { ...process.env, WAYGATE_STATE_DIR: join(root, `${name}-state`), WAYGATE_LINGER_MS: '3000' };
  const one = { folder, env };
  const file = join(folder, '.vscode', 'waygate.json');
  approveAll(folder, env.WAYGATE_STATE_DIR, file, readFileSync(file, 'utf8'));
  return one;
}

function waygate({ folder, env }: Place, command: string, ...args: string[]): string {
  return execFileSync(process.execPath, [CLI, command, ...args, '--workspace', folder], { env, encoding: 'utf8' });
}

function stop(one: Place): void {
  spawnSync(process.execPath, [CLI, 'stop', '--workspace', one.folder], { env: one.env });
}

/** Returns the milliseconds until the browse is answered. */
async function firstBrowse({ folder, env }: Place): Promise<number> {
  const started = performance.now();
  const host = spawn(process.execPath, [CLI, 'serve', '--workspace', folder], {
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const send = (message: object): void => void host.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'bench', version: '1' };
  send({ id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } });
  send({ method: 'notifications/initialized' });
  send({ id: 2, method: 'tools/call', params: { name: 'tool_browse', arguments: { query: 'say back a text' } } });
  const took = await new Promise<number>((answered) => {
    createInterface({ input: host.stdout }).on('line', (line) => {
      if (line.includes('"id":2')) answered(performance.now() - started);
    });
  });
  host.stdin.end();
  await new Promise((gone) => host.once('close', gone));
  return took;
}

function bareNode(): number {
  const started = performance.now();
  spawnSync(process.execPath, ['-e', '0']);
  return performance.now() - started;
}

/** Returns the milliseconds until a worker has published its rendezvous file. */
async function bareWorker({ folder, env }: Place): Promise<number> {
  const state = join(root, 'bare-worker');
  mkdirSync(state, { recursive: true, mode: 0o700 });
  const started = performance.now();
  const worker = spawn(process.execPath, [WORKER, '--workspace', folder, '--state', state], { env, stdio: 'ignore' });
  const published = (): boolean =>
    existsSync(state) && readdirSync(state).some((name) => name.startsWith('worker.json'));
  while (!published() && worker.exitCode === null) await new Promise((next) => setTimeout(next, 1));
  const took = performance.now() - started;
  worker.kill('SIGKILL');
  await new Promise((gone) => worker.once('close', gone));
  rmSync(state, { recursive: true, force: true });
  return took;
}

const median = (list: number[]): number => list.sort((a, b) => a - b)[Math.floor(list.length / 2)] as number;

const empty = place('empty', 0);
const known = place('known', 6);
const unknown = place('unknown', 6);
waygate(known, 'catalog');
stop(known);

const times = { node: [] as number[], worker: [] as number[], known: [] as number[], unknown: [] as number[] };
for (let round = 0; round < Number(values.rounds); round++) {
  times.node.push(bareNode());
  times.worker.push(await bareWorker(empty));
  times.known.push(await firstBrowse(known));
  stop(known);
  rmSync(join(unknown.env.WAYGATE_STATE_DIR as string, 'workspaces'), { recursive: true, force: true });
  times.unknown.push(await firstBrowse(unknown));
  stop(unknown);
}

const many = place('many', TOOLS_EACH);
waygate(many, 'catalog');
const { worker } = JSON.parse(waygate(many, 'status', '--json')) as { worker: { pid: number } };
const rss = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${worker.pid}/status`, 'utf8'))?.[1];
stop(many);
rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });

const floorMs = median(times.node) + median(times.worker);
const report = {
  floorMs,
  knownMs: median(times.known),
  unknownMs: median(times.unknown),
  ratioKnown: median(times.known) / floorMs,
  ratioUnknown: median(times.unknown) / floorMs,
  workerMegabytes: Number(rss) / 1024,
};
if (values.json) console.log(JSON.stringify(report));
else {
  console.log(
    `floor          ${report.floorMs.toFixed(0)} ms (bare Node ${median(times.node).toFixed(0)} + worker without servers)`,
  );
  console.log(`known before   ${report.knownMs.toFixed(0)} ms, ${report.ratioKnown.toFixed(2)} x`);
  console.log(`never seen     ${report.unknownMs.toFixed(0)} ms, ${report.ratioUnknown.toFixed(2)} x`);
  console.log(`worker with ${SERVERS * TOOLS_EACH} tools: ${report.workerMegabytes.toFixed(0)} MB`);
}
