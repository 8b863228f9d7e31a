/**
 * Measures what serving two eras of MCP takes: the time from the start of a host to the answer of `server/discover` and
 * of `initialize`, beside the start of a bare Node process; `server/discover` of a host that runs; and a small call in
 * either era, in alternating blocks over one worker.
 * `node test/bench/eras.ts [--rounds N] [--calls N] [--json]`, after `npm run build`.
 */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { approveAll } from '../support/approveAll.ts';
import { modernMeta } from '../support/modernMeta.ts';
import { cpuMsOf, percentile } from './measure.ts';

const options = { rounds: { type: 'string', default: '15' }, calls: { type: 'string', default: '10000' } } as const;
const { values } = parseArgs({ options: { ...options, json: { type: 'boolean' } } });
const [FIXTURE, CLI] = ['test/fixtures/server.mjs', 'dist/waygate.cjs'].map((file) => resolve(file)) as [
  string,
  string,
];
const BLOCKS = 10;

const root = mkdtempSync(join(tmpdir(), 'waygate-eras-'));
const folder = join(root, 'workspace');
const env = { ...process.env, WAYGATE_STATE_DIR: join(root, 'state'), WAYGATE_CONFIG_DIR: join(root, 'config') };
const file = join(folder, '.vscode', 'waygate.json');
mkdirSync(join(folder, '.vscode'), { recursive: true });
writeFileSync(file, JSON.stringify({ servers: { one: { command: process.execPath, args: [FIXTURE] } } }));
approveAll(folder, env.WAYGATE_STATE_DIR, file, readFileSync(file, 'utf8'));

class Host {
  readonly child: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, (result: Record<string, unknown>) => void>();
  #next = 1;

  constructor() {
    this.child = spawn(process.execPath, [CLI, 'serve', '--workspace', folder], { env });
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const { id, result, error } = JSON.parse(line) as { id: number; result: Record<string, unknown>; error: unknown };
      if (error) throw new Error(line);
      this.#waiting.get(id)?.(result);
    });
  }

  request(method: string, params: object): Promise<Record<string, unknown>> {
    const id = this.#next++;
    const answer = new Promise<Record<string, unknown>>((done) => this.#waiting.set(id, done));
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    return answer;
  }

  async end(): Promise<void> {
    this.child.stdin.end();
    await new Promise((done) => this.child.once('close', done));
  }
}

const ERAS = {
  discover: ['server/discover', { _meta: modernMeta() }],
  initialize: [
    'initialize',
    { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
  ],
} as const;
const times: Record<string, number[]> = {};
const note = (name: string, value: number): void => {
  times[name] = [...(times[name] ?? []), value];
};

/** Starts a host for one answer. The host still has the CPU time of its start alone. */
async function start(era: keyof typeof ERAS): Promise<void> {
  const began = performance.now();
  const host = new Host();
  const [method, params] = ERAS[era];
  await host.request(method, params);
  note(`start to ${era}, ms`, performance.now() - began);
  note(`start to ${era}, CPU ms`, cpuMsOf(host.child.pid as number));
  if (era === 'discover') {
    const asked = performance.now();
    await host.request(...ERAS.discover);
    note('discover of a running host, ms', performance.now() - asked);
  }
  await host.end();
}

async function callBlock(name: string, host: Host, meta: object): Promise<void> {
  for (let i = 0; i < Number(values.calls) / BLOCKS; i++) {
    const began = performance.now();
    await host.request('tools/call', {
      name: 'tool_execute',
      arguments: { tool_id: 'one:echo', args: { text: 'x' } },
      ...meta,
    });
    note(name, performance.now() - began);
  }
}

try {
  for (let round = 0; round < Number(values.rounds); round++) {
    const began = performance.now();
    spawnSync(process.execPath, ['-e', '']);
    note('start and end of Node, ms', performance.now() - began);
    await start('discover');
    await start('initialize');
  }
  const [legacy, modern] = [new Host(), new Host()];
  await legacy.request(...ERAS.initialize);
  for (let block = 0; block <= BLOCKS; block++) {
    // The first block warms up, and waits for the server.
    await callBlock(block === 0 ? 'warm-up' : 'call, legacy era, ms', legacy, {});
    await callBlock(block === 0 ? 'warm-up' : 'call, modern era, ms', modern, { _meta: modernMeta() });
  }
  await Promise.all([legacy.end(), modern.end()]);
  delete times['warm-up'];
  const rows = Object.entries(times).map(([name, all]) => {
    const sorted = [...all].sort((a, b) => a - b);
    return { name, p50: percentile(sorted, 0.5), p90: percentile(sorted, 0.9), least: sorted[0] ?? 0 };
  });
  if (values.json) console.log(JSON.stringify(rows));
  else {
    for (const { name, p50, p90, least } of rows) {
      console.log(`${name.padEnd(34)} p50 ${p50.toFixed(2)}  p90 ${p90.toFixed(2)}  least ${least.toFixed(2)}`);
    }
  }
} finally {
  spawnSync(process.execPath, [CLI, 'stop', '--workspace', folder], { env });
  rmSync(root, { recursive: true, force: true });
}
