/**
 * Measures the time of a call through the whole gateway against the same SDK client connected to the same server
 * directly. Both run in alternating blocks of one run, so that a busy machine slows both alike.
 * `node test/bench/calls.ts [--calls N] [--json]`, after `npm run build`.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { approveAll } from '../support/approveAll.ts';

const { values } = parseArgs({ options: { calls: { type: 'string', default: '2000' }, json: { type: 'boolean' } } });
const BLOCK = 100;
const FIXTURE = resolve('test/fixtures/server.mjs');

const folder = mkdtempSync(join(tmpdir(), 'waygate-bench-'));
mkdirSync(join(folder, '.vscode'));
const servers = { fixture: { command: process.execPath, args: [FIXTURE] } };
writeFileSync(join(folder, '.vscode', 'waygate.json'), JSON.stringify({ servers }));
const env = {
  ...(process.env as Record<string, string>),
  WAYGATE_STATE_DIR: join(folder, 'state'),
  WAYGATE_LINGER_MS: '100',
};

approveAll(folder, env.WAYGATE_STATE_DIR, folder, JSON.stringify({ servers }));

type Call = (tool: string, args: Record<string, unknown>) => Promise<unknown>;

async function connect(args: string[]): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }));
  return client;
}

async function direct(): Promise<{ call: Call; close: () => Promise<void> }> {
  const client = await connect([FIXTURE]);
  return { call: (name, args) => client.callTool({ name, arguments: args }), close: () => client.close() };
}

async function gateway(): Promise<{ call: Call; close: () => Promise<void> }> {
  const client = await connect([resolve('dist/waygate.cjs'), 'serve', '--workspace', folder]);
  const ids = new Map<string, string>();
  while (ids.size === 0) {
    const answer = await client.callTool({ name: 'tool_browse', arguments: { path: '/fixture', render: 'json' } });
    const { cards = [] } = (answer.structuredContent ?? {}) as { cards?: { id: string; name: string }[] };
    for (const card of cards) ids.set(card.name, card.id);
  }
  const call: Call = async (name, args) => {
    const answer = await client.callTool({ name: 'tool_execute', arguments: { tool_id: ids.get(name), args } });
    if (answer.isError) throw new Error(JSON.stringify(answer.content));
  };
  return { call, close: () => client.close() };
}

/** Returns the latencies of both in milliseconds, measured in alternating blocks. */
async function alternate(calls: number, left: () => Promise<unknown>, right: () => Promise<unknown>) {
  const times: [number[], number[]] = [[], []];
  for (let done = 0; done < calls; done += BLOCK) {
    for (const [i, run] of [left, right].entries()) {
      for (let n = 0; n < BLOCK; n++) {
        const started = performance.now();
        await run();
        times[i]?.push(performance.now() - started);
      }
    }
  }
  return times.map((list) => list.sort((a, b) => a - b)) as [number[], number[]];
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number;

async function measure(calls: number, tool: string, args: Record<string, unknown>, a: Call, b: Call) {
  await alternate(
    BLOCK,
    () => a(tool, args),
    () => b(tool, args),
  );
  const [plain, through] = await alternate(
    calls,
    () => a(tool, args),
    () => b(tool, args),
  );
  return {
    directP50Ms: at(plain, 0.5),
    gatewayP50Ms: at(through, 0.5),
    addedP50Ms: at(through, 0.5) - at(plain, 0.5),
    ratioP50: at(through, 0.5) / at(plain, 0.5),
    directP99Ms: at(plain, 0.99),
    gatewayP99Ms: at(through, 0.99),
  };
}

const one = await direct();
const other = await gateway();
const small = await measure(Number(values.calls), 'echo', { text: 'hello' }, one.call, other.call);
const large = await measure(BLOCK, 'large', { lines: 15_000 }, one.call, other.call);
await Promise.all([one.close(), other.close()]);
rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });

if (values.json) console.log(JSON.stringify({ small, megabyte: large }));
else {
  for (const [name, row] of Object.entries({ 'small call': small, '1 MB text': large })) {
    console.log(
      `${name.padEnd(11)} direct ${row.directP50Ms.toFixed(3)} ms, gateway ${row.gatewayP50Ms.toFixed(3)} ms: ` +
        `+${row.addedP50Ms.toFixed(3)} ms, ${row.ratioP50.toFixed(2)} x (p99 ${row.directP99Ms.toFixed(1)} / ${row.gatewayP99Ms.toFixed(1)})`,
    );
  }
}
