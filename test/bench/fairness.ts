/**
 * Measures how much a session with many calls in flight slows the calls of another session: their p50 beside it against
 * their p50 alone, in alternating blocks of one run.
 * `node test/bench/fairness.ts [--blocks N] [--calls N] [--in-flight N] [--json]`, after `npm run build`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
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
const servers = { busy: server, calm: server };
const text = JSON.stringify({ servers });
writeFileSync(join(folder, '.vscode', 'waygate.json'), text);
const env = {
  ...(process.env as Record<string, string>),
  WAYGATE_STATE_DIR: join(folder, 'state'),
  WAYGATE_LINGER_MS: '100',
};
approveAll(folder, env.WAYGATE_STATE_DIR, folder, text);

async function session(): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' });
  const args = [resolve('dist/waygate.cjs'), 'serve', '--workspace', folder];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }));
  return client;
}

async function call(client: Client, name: string): Promise<void> {
  const args = { tool_id: `${name}:echo`, args: { nonce: 'x' } };
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
await Promise.all([busy.close(), calm.close()]);
rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });

const [a, b] = [alone, beside].map((times) => times.sort((x, y) => x - y)) as [number[], number[]];
const report = {
  aloneP50Ms: percentile(a, 0.5),
  besideP50Ms: percentile(b, 0.5),
  ratioP50: percentile(b, 0.5) / percentile(a, 0.5),
  besideP95Ms: percentile(b, 0.95),
  served,
};
if (values.json) console.log(JSON.stringify(report));
else {
  const { aloneP50Ms, besideP50Ms, ratioP50, besideP95Ms } = report;
  console.log(
    `p50 alone ${aloneP50Ms.toFixed(2)} ms, beside ${IN_FLIGHT} calls in flight ${besideP50Ms.toFixed(2)} ms ` +
      `(${ratioP50.toFixed(1)} x), p95 ${besideP95Ms.toFixed(2)} ms; ${served} calls of the other session`,
  );
}
