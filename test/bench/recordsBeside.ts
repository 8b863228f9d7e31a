/**
 * Measures calls to another server while the worker's thread loads records: alone, beside that load, and beside the same
 * load in a process of its own, which is what any use of a core costs.
 * `node test/bench/recordsBeside.ts [ROWS]`, after `npm run build`.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ensureWorkspaceState } from '../../src/config/state/stateFolder.ts';
import { writeGrants } from '../../src/records/embedded/grants/grantFile.ts';
import { approveAll } from '../support/approveAll.ts';
import { percentile } from './measure.ts';

const ROWS = Number(process.argv[2] ?? 300_000);
const ALONE_CALLS = 2_000;
const WAYGATE = resolve('dist/waygate.cjs');

const root = mkdtempSync(join(tmpdir(), 'waygate-bench-beside-'));
process.on('exit', () => rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));

interface Place {
  folder: string;
  env: Record<string, string>;
  /** State folder of the workspace. */
  state: string;
}

function place(name: string, servers: object): Place {
  const folder = join(root, name);
  const data = join(folder, 'data');
  for (const one of [join(folder, '.vscode'), data]) mkdirSync(one, { recursive: true });
  const text = JSON.stringify({ servers });
  const file = join(folder, '.vscode', 'waygate.json');
  writeFileSync(file, text);
  const stateRoot = join(folder, 'state');
  const env = { ...(process.env as Record<string, string>), WAYGATE_STATE_DIR: stateRoot };
  approveAll(folder, stateRoot, file, text);
  writeFileSync(join(data, 'rows.jsonl'), rows());
  const state = ensureWorkspaceState(folder, stateRoot, []);
  return { folder, env: { ...env, WAYGATE_LINGER_MS: '100' }, state };
}

function rows(): string {
  const words = Array.from({ length: 5_000 }, (_, n) => `w${n.toString(36)}${(n * 7919).toString(36)}`);
  const line = (id: number): string => {
    const text = Array.from({ length: 8 }, (_, n) => words[(id * (n + 3)) % words.length]).join(' ');
    return JSON.stringify({
      id,
      at: new Date(Date.UTC(2026, 0, 1) + id * 20_000).toISOString(),
      tokens: id % 500,
      text,
    });
  };
  return `${Array.from({ length: ROWS }, (_, id) => line(id)).join('\n')}\n`;
}

function grant({ folder, state }: Place): void {
  const source = { kind: 'folder', path: join(folder, 'data'), name: 'data' } as const;
  writeGrants(state, [{ id: 'g', connection: 'data', source, streams: 'all', created: new Date().toISOString() }]);
}

async function call(client: Client, tool_id: string, args: object): Promise<string> {
  const answer = await client.callTool({ name: 'tool_execute', arguments: { tool_id, args } });
  return (answer.content as { text?: string }[]).map(({ text }) => text ?? '').join();
}

/** Waits until the server of a tool has started. */
async function served(client: Client, tool_id: string, args: object): Promise<void> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const text = await call(client, tool_id, args);
    if (text.startsWith('ok')) return;
    if (performance.now() > deadline) throw new Error(text);
    await new Promise((done) => setTimeout(done, 100));
  }
}

async function calls(client: Client, isOver: (done: number) => boolean): Promise<number[]> {
  const times: number[] = [];
  while (!isOver(times.length)) {
    const started = performance.now();
    const text = await call(client, 'calm:echo', { nonce: 'x' });
    times.push(performance.now() - started);
    if (!text.startsWith('ok')) throw new Error(text);
  }
  return times.sort((a, b) => a - b);
}

const calm = { command: process.execPath, args: [resolve('test/fixtures/faultServer.mjs')] };
const here = place('here', { calm, records: { type: 'records' } });
const elsewhere = place('elsewhere', { calm });
const client = new Client({ name: 'bench', version: '1' });
const command = { command: process.execPath, args: [WAYGATE, 'serve', '--workspace', here.folder], env: here.env };
await client.connect(new StdioClientTransport({ ...command, stderr: 'ignore' }));
await served(client, 'calm:echo', { nonce: 'x' });
await served(client, 'records:schema', {});
await calls(client, (done) => done === ALONE_CALLS);

const alone = await calls(client, (done) => done === ALONE_CALLS);

grant(elsewhere);
let isOver = false;
const other = promisify(execFile)(process.execPath, [WAYGATE, 'records', 'status', '--workspace', elsewhere.folder], {
  env: elsewhere.env,
}).finally(() => {
  isOver = true;
});
const besideProcess = await calls(client, () => isOver);
await other;

grant(here);
isOver = false;
const count = { stream: 'rows', metric: 'count' };
const loading = (async () => {
  for (let loaded = 0; loaded < ROWS; ) {
    const answer = await call(client, 'records:aggregate', count);
    loaded = Number(/\b(\d{4,})\b/.exec(answer.replaceAll(',', ''))?.[1] ?? 0);
    await new Promise((done) => setTimeout(done, 500));
  }
})().finally(() => {
  isOver = true;
});
const besideThread = await calls(client, () => isOver);
await loading;
await client.close();

const line = (name: string, times: readonly number[]): string => {
  const ratio = percentile(times, 0.5) / percentile(alone, 0.5);
  return `${name}: ${times.length} calls, none failed; p50 ${percentile(times, 0.5).toFixed(2)} ms (${ratio.toFixed(1)} x), p95 ${percentile(times, 0.95).toFixed(2)} ms, p99 ${percentile(times, 0.99).toFixed(2)} ms`;
};
console.log(`calls to another server while ${ROWS.toLocaleString('en')} rows are loaded`);
console.log(line('alone', alone));
console.log(line('beside the load in a process of its own', besideProcess));
console.log(line("beside the load in the worker's thread", besideThread));
