/**
 * Measures the delay of a call by a configuration edit (target: less than 50 ms). The client sends the call directly
 * after the request that applies the edit, so that it reaches the worker meanwhile. The floor is the same call after
 * the same request with an unchanged file, alternating within one run.
 * `node test/bench/edits.ts [--edits N] [--servers N] [--tools N] [--json]`, after `npm run build`.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { attachControl } from '../../src/host/attach/attachControl.ts';
import { percentile } from './measure.ts';

const { values } = parseArgs({
  options: {
    edits: { type: 'string', default: '30' },
    servers: { type: 'string', default: '10' },
    tools: { type: 'string', default: '50' },
    json: { type: 'boolean' },
  },
});
const EDITS = Number(values.edits);

const folder = mkdtempSync(join(tmpdir(), 'waygate-bench-'));
const userFolder = join(folder, 'user');
mkdirSync(userFolder);
const file = join(userFolder, 'waygate.json');
const env = {
  ...(process.env as Record<string, string>),
  WAYGATE_STATE_DIR: join(folder, 'state'),
  WAYGATE_CONFIG_DIR: userFolder,
  WAYGATE_LINGER_MS: '100',
};
const fixture = (...flags: string[]) => ({
  command: process.execPath,
  args: [resolve('test/fixtures/server.mjs'), ...flags],
});
const others = Object.fromEntries(
  Array.from({ length: Number(values.servers) }, (_, i) => [`other${i}`, fixture('--tools', values.tools)]),
);
const base = { servers: { called: fixture(), ...others } };
/** Configuration by kind of edit. Each edit `n` differs from the edit before. */
const KINDS: Record<string, (n: number) => object> = {
  'a policy rule': (n) => ({ ...base, policy: { rules: [{ action: 'deny', tool: `none_${n}` }] } }),
  'a time limit': (n) => ({ ...base, timeouts: { default: 60 + n } }),
  'a tool filter': (n) => ({
    servers: { ...base.servers, other0: { ...others.other0, tools: { exclude: [`tool_${n}`] } } },
  }),
  'a changed server': (n) => ({ servers: { ...base.servers, other0: { ...others.other0, env: { N: String(n) } } } }),
  'a new server': (n) => ({ servers: { ...base.servers, [`new${n}`]: fixture('--tools', values.tools) } }),
  'a broken file': (n) => ({ ...base, browse: n }),
};

writeFileSync(file, JSON.stringify(base));
const program = resolve('dist/waygate.cjs');
const client = new Client({ name: 'bench', version: '1' });
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: [program, 'serve', '--workspace', folder],
    env,
    stderr: 'ignore',
  }),
);

async function toolId(path: string): Promise<string> {
  for (;;) {
    const answer = await client.callTool({ name: 'tool_browse', arguments: { path, render: 'json' } });
    const [card] = (answer.structuredContent as { cards?: { id: string }[] } | undefined)?.cards ?? [];
    if (card) return card.id;
  }
}

function workerPid(): number {
  const status = execFileSync(process.execPath, [program, 'status', '--json', '--workspace', folder], { env });
  return (JSON.parse(status.toString()) as { worker: { pid: number } }).worker.pid;
}

const id = await toolId('/called/echo');
const worker = workerPid();
const target = { workspace: folder, nodePath: process.execPath, workerScript: resolve('dist/worker.cjs') };
const stateDir = join(folder, 'state');
const attached = await attachControl({ ...target, stateDir, env }, { start: false, holds: false });
if (!attached) throw new Error('There is no gateway.');
const control = attached;
await Promise.all(Object.keys(others).map((name) => toolId(`/${name}/echo`)));

async function call(): Promise<number> {
  const began = performance.now();
  const answer = await client.callTool({ name: 'tool_execute', arguments: { tool_id: id, args: { text: 'x' } } });
  if (answer.isError) throw new Error(JSON.stringify(answer.content));
  return performance.now() - began;
}

/** Returns the time of a call sent directly after the request that makes the worker apply the file. */
async function callBehindEdit(): Promise<number> {
  const applied = control.request('recheck', {});
  const time = await call();
  await applied;
  // Let the worker start and list servers before the next measurement.
  await sleep(50);
  return time;
}

for (let n = 0; n < 50; n++) await call();
const rows: Record<string, { floorP50Ms: number; floorP95Ms: number; editP50Ms: number; editP95Ms: number }> = {};
for (const [name, configOf] of Object.entries(KINDS)) {
  const floor: number[] = [];
  const edited: number[] = [];
  for (let n = 0; n < EDITS; n++) {
    floor.push(await callBehindEdit());
    writeFileSync(file, JSON.stringify(configOf(n)));
    edited.push(await callBehindEdit());
  }
  writeFileSync(file, JSON.stringify(base));
  await callBehindEdit();
  await sleep(1_000);
  for (const times of [floor, edited]) times.sort((a, b) => a - b);
  rows[name] = {
    floorP50Ms: percentile(floor, 0.5),
    floorP95Ms: percentile(floor, 0.95),
    editP50Ms: percentile(edited, 0.5),
    editP95Ms: percentile(edited, 0.95),
  };
}
const isSame = workerPid() === worker;
control.dispose();
await client.close();
rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
if (!isSame) throw new Error('Another worker serves: the edits were not applied in place.');

if (values.json) console.log(JSON.stringify(rows));
else {
  for (const [name, { floorP50Ms, floorP95Ms, editP50Ms, editP95Ms }] of Object.entries(rows)) {
    console.log(
      `${name.padEnd(18)} without p50 ${floorP50Ms.toFixed(1)} p95 ${floorP95Ms.toFixed(1)} ms, with p50 ` +
        `${editP50Ms.toFixed(1)} p95 ${editP95Ms.toFixed(1)} ms: ${(editP50Ms - floorP50Ms).toFixed(1)} ms more`,
    );
  }
}
