/**
 * Measures how much others slow the calls of a session: a session with many calls in flight, and a server that lists a
 * schema of 200,000 properties again and again. Calls beside them against calls alone, in alternating blocks of one run.
 * `node test/bench/fairness.ts [--blocks N] [--calls N] [--in-flight N] [--json]`, after `npm run build`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { attachControl } from '../../src/host/attach/attachControl.ts';
import { approveAll } from '../support/approveAll.ts';
import { percentile } from './measure.ts';

const { values } = parseArgs({
  options: {
    blocks: { type: 'string', default: '5' },
    calls: { type: 'string', default: '100' },
    'in-flight': { type: 'string', default: '256' },
    json: { type: 'boolean' },
  },
});
const CALLS = Number(values.calls);
const IN_FLIGHT = Number(values['in-flight']);

const folder = mkdtempSync(join(tmpdir(), 'waygate-bench-'));
mkdirSync(join(folder, '.vscode'));
const server = { command: process.execPath, args: [resolve('test/fixtures/faultServer.mjs')] };
const wide = join(folder, 'wide.json');
writeFileSync(wide, JSON.stringify({ tools: [echoTool('echo', {}), echoTool('huge', properties(200_000))] }));
const servers = {
  busy: server,
  calm: server,
  wide: { ...server, args: [...server.args, '--script-file', wide] },
};
const text = JSON.stringify({ servers });
writeFileSync(join(folder, '.vscode', 'waygate.json'), text);
const env = {
  ...(process.env as Record<string, string>),
  WAYGATE_STATE_DIR: join(folder, 'state'),
  WAYGATE_LINGER_MS: '100',
};
approveAll(folder, env.WAYGATE_STATE_DIR, folder, text);

function echoTool(name: string, properties: object): object {
  return { name, inputSchema: { type: 'object', properties } };
}

function properties(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { type: 'integer' }]));
}

async function session(): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' });
  const args = [resolve('dist/waygate.cjs'), 'serve', '--workspace', folder];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }));
  return client;
}

async function call(client: Client, name: string, tool = 'echo'): Promise<void> {
  const args = { tool_id: `${name}:${tool}`, args: { nonce: 'x' } };
  const answer = await client.callTool({ name: 'tool_execute', arguments: args }, undefined, { timeout: 60_000 });
  if (answer.isError) throw new Error(JSON.stringify(answer.content));
}

async function block(client: Client): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < CALLS; i++) {
    const started = performance.now();
    await call(client, 'calm');
    times.push(performance.now() - started);
  }
  return times;
}

const busy = await session();
const calm = await session();
for (const name of Object.keys(servers)) {
  for (;;) {
    const known = await call(calm, name).then(
      () => true,
      () => false,
    );
    if (known) break;
  }
}
await block(calm);
const alone: number[] = [];
const beside: number[] = [];
let served = 0;
for (let n = 0; n < Number(values.blocks); n++) {
  alone.push(...(await block(calm)));
  let isOver = false;
  const loops = Array.from({ length: IN_FLIGHT }, async () => {
    for (; !isOver; served++) await call(busy, 'busy');
  });
  await new Promise((done) => setTimeout(done, 300));
  beside.push(...(await block(calm)));
  isOver = true;
  await Promise.all(loops);
}

const control = await attachControl(
  {
    workspace: folder,
    stateDir: env.WAYGATE_STATE_DIR,
    nodePath: process.execPath,
    workerScript: resolve('dist/worker.cjs'),
  },
  { start: false, holds: true },
);
if (!control) throw new Error('The gateway has gone.');
const quiet: number[] = [];
const besideWide: number[] = [];
let listed = 0;
control.onRefreshed(() => {
  listed += 1;
});
for (let n = 0; n < Number(values.blocks); n++) {
  quiet.push(...(await block(calm)));
  const before = listed;
  await control.request('refresh', { server: 'wide' });
  const huge = call(busy, 'wide', 'huge');
  while (listed === before) besideWide.push(...(await block(calm)));
  await huge;
}
control.dispose();
await Promise.all([busy.close(), calm.close()]);
rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });

/** Compares times beside others with those alone, in milliseconds. */
function compared(aloneTimes: number[], besideTimes: number[]) {
  const [a, b] = [aloneTimes, besideTimes].map((times) => times.sort((x, y) => x - y)) as [number[], number[]];
  return {
    aloneP50: percentile(a, 0.5),
    besideP50: percentile(b, 0.5),
    ratioP50: percentile(b, 0.5) / percentile(a, 0.5),
    aloneP95: percentile(a, 0.95),
    besideP95: percentile(b, 0.95),
    aloneMax: a.at(-1),
    besideMax: b.at(-1),
  };
}

const report = { busySession: { ...compared(alone, beside), served }, wideSchema: compared(quiet, besideWide) };
if (values.json) console.log(JSON.stringify(report));
else console.table(report);
