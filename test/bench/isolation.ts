/**
 * Measures how much a flooding server slows calls to another server: their p99 during the flood against their p99
 * without it, in alternating blocks of one run. The target is a ratio below two.
 * `node test/bench/isolation.ts [--blocks N] [--calls N] [--json]`, after `npm run build`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
    blocks: { type: 'string', default: '4' },
    calls: { type: 'string', default: '500' },
    json: { type: 'boolean' },
  },
});
const CALLS = Number(values.calls);

const folder = mkdtempSync(join(tmpdir(), 'waygate-bench-'));
mkdirSync(join(folder, '.vscode'));
const program = resolve('test/fixtures/faultServer.mjs');
/** Script of a server that never answers a call and floods until the call is cancelled. */
const script = (...actions: unknown[]): string[] => [
  program,
  '--script',
  JSON.stringify({ steps: [{ on: 'tools/call', do: actions }] }),
];
const FLOODS: Record<string, string[]> = {
  'log notifications': script({ endless: 'log' }),
  garbage: script({ endless: 'garbage' }),
  'progress of a call': script({ endless: 'progress' }),
  pings: script({ endless: 'ping' }),
};
const overHttp = spawn(process.execPath, [...script({ endless: 'ping' }), '--http', '--sse'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const [port] = (await once(overHttp.stdout, 'data')) as [Buffer];
const flooding: Record<string, object> = {
  ...Object.fromEntries(Object.entries(FLOODS).map(([name, args]) => [name, { command: process.execPath, args }])),
  'pings over HTTP': { url: `http://127.0.0.1:${Number(String(port))}/mcp` },
};
const names = Object.keys(flooding);
const servers = {
  victim: { command: process.execPath, args: [program] },
  ...Object.fromEntries(names.map((name, i) => [`flood${i}`, flooding[name]])),
};
const file = join(folder, '.vscode', 'waygate.json');
writeFileSync(file, JSON.stringify({ servers }));
const env = {
  ...(process.env as Record<string, string>),
  WAYGATE_STATE_DIR: join(folder, 'state'),
  WAYGATE_LINGER_MS: '100',
};
approveAll(folder, env.WAYGATE_STATE_DIR, folder, JSON.stringify({ servers }));

const client = new Client({ name: 'bench', version: '1' });
const args = [resolve('dist/waygate.cjs'), 'serve', '--workspace', folder];
await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }));

const call = (server: string, signal?: AbortSignal) =>
  client.callTool({ name: 'tool_execute', arguments: { tool_id: `${server}:act`, args: { nonce: 'x' } } }, undefined, {
    timeout: 600_000,
    ...(signal ? { signal } : {}),
  });

async function known(server: string): Promise<void> {
  for (;;) {
    const answer = await client.callTool({ name: 'tool_browse', arguments: { path: `/${server}`, render: 'json' } });
    if (((answer.structuredContent as { cards?: unknown[] } | undefined)?.cards ?? []).length > 0) return;
  }
}

async function block(): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < CALLS; i++) {
    const started = performance.now();
    const answer = await call('victim');
    if (answer.isError) throw new Error(JSON.stringify(answer.content));
    times.push(performance.now() - started);
  }
  return times;
}

for (const server of Object.keys(servers)) await known(server);
await block();
const rows: Record<
  string,
  { quietP50Ms: number; quietP99Ms: number; floodP50Ms: number; floodP99Ms: number; ratioP99: number }
> = {};
for (const [i, name] of names.entries()) {
  const quiet: number[] = [];
  const flooded: number[] = [];
  for (let n = 0; n < Number(values.blocks); n++) {
    quiet.push(...(await block()));
    const stop = new AbortController();
    const flood = call(`flood${i}`, stop.signal).catch(() => undefined);
    await new Promise((done) => setTimeout(done, 500));
    flooded.push(...(await block()));
    stop.abort();
    await flood;
    // Let the gateway read the rest of the flood.
    await new Promise((done) => setTimeout(done, 500));
  }
  const [a, b] = [quiet, flooded].map((times) => times.sort((x, y) => x - y)) as [number[], number[]];
  rows[name] = {
    quietP50Ms: percentile(a, 0.5),
    quietP99Ms: percentile(a, 0.99),
    floodP50Ms: percentile(b, 0.5),
    floodP99Ms: percentile(b, 0.99),
    ratioP99: percentile(b, 0.99) / percentile(a, 0.99),
  };
}
await client.close();
overHttp.kill('SIGKILL');
rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });

if (values.json) console.log(JSON.stringify(rows));
else {
  for (const [name, row] of Object.entries(rows)) {
    console.log(
      `${name.padEnd(20)} quiet p50 ${row.quietP50Ms.toFixed(2)} p99 ${row.quietP99Ms.toFixed(2)} ms, flooded p50 ` +
        `${row.floodP50Ms.toFixed(2)} p99 ${row.floodP99Ms.toFixed(2)} ms: ${row.ratioP99.toFixed(2)} x`,
    );
  }
}
