/**
 * Measures the recovery of a killed worker: from SIGKILL to the answer of the next browse, and of the next call of a
 * tool, whose server has to start too. The floor, measured in the same rounds, is a bare Node that starts, reads the
 * snapshots of the catalog and lists their tools. CPU is that of the successor up to its first answer.
 * `node test/bench/workerRecovery.ts [--kills N] [--servers N] [--walls] [--json]`, after `npm run build`. `--walls`: with
 * optional walls around the servers, where the machine has any.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { approveAll } from '../support/approveAll.ts';
import { percentile } from './measure.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '15' },
    servers: { type: 'string', default: '3' },
    walls: { type: 'boolean', default: false },
    json: { type: 'boolean' },
  },
});

const folder = mkdtempSync(join(tmpdir(), 'waygate-bench-'));
mkdirSync(join(folder, '.vscode'));
const server = { command: process.execPath, args: [resolve('test/fixtures/server.mjs')] };
const servers = Object.fromEntries(Array.from({ length: Number(values.servers) }, (_, i) => [`s${i}`, server]));
const text = JSON.stringify({ servers });
writeFileSync(join(folder, '.vscode', 'waygate.json'), text);
const state = join(folder, 'state');
const env = {
  ...(process.env as Record<string, string>),
  WAYGATE_STATE_DIR: state,
  WAYGATE_LINGER_MS: '100',
  ...(values.walls ? {} : { WAYGATE_WALLS: 'off' }),
};
approveAll(folder, state, folder, text);

const client = new Client({ name: 'bench', version: '1' });
const args = [resolve('dist/waygate.cjs'), 'serve', '--workspace', folder];
await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }));

/** The compiled code is saved two seconds after a start, and the count of ends is reset by an answer. */
const SETTLED_MS = 2_500;

const workerPid = (): number => {
  const [file] = globSync('workspaces/*/worker.json', { cwd: state });
  return (JSON.parse(readFileSync(join(state, String(file)), 'utf8')) as { pid: number }).pid;
};

/** Returns the processor time of a process in milliseconds (Linux), in steps of 10. */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function answered(name: string, given: object): Promise<boolean> {
  const answer = await client.callTool({ name, arguments: given as Record<string, unknown> }, undefined, {
    timeout: 60_000,
  });
  return answer.isError !== true;
}
const browse = (): Promise<boolean> => answered('tool_browse', { query: 'echo a text' });
const execute = (): Promise<boolean> => answered('tool_execute', { tool_id: 's0:echo', args: { text: 'a' } });

async function afterKill(request: () => Promise<boolean>): Promise<number> {
  const started = performance.now();
  process.kill(workerPid(), 'SIGKILL');
  if (!(await request())) throw new Error('The answer after the kill is an error.');
  return performance.now() - started;
}

const LISTS = `
  const { globSync, readFileSync } = require('node:fs');
  const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
  process.stdout.write(JSON.stringify(globSync(process.argv[1] + '/workspaces/*/catalogs/*.json').map(read)));
`;

async function floor(): Promise<number> {
  const started = performance.now();
  const child = spawn(process.execPath, ['-e', LISTS, state], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  const took = performance.now() - started;
  child.stdout.resume();
  await ended;
  return took;
}

while (!(await execute())) await sleep(100);
await sleep(SETTLED_MS);
const times = { floor: [] as number[], browse: [] as number[], execute: [] as number[], cpu: [] as number[] };
for (let n = 0; n < Number(values.kills); n++) {
  times.floor.push(await floor());
  times.browse.push(await afterKill(browse));
  if (process.platform === 'linux') times.cpu.push(cpuMs(workerPid()));
  await sleep(SETTLED_MS);
  times.execute.push(await afterKill(execute));
  await sleep(SETTLED_MS);
}
await client.close();
rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });

const [floorMs, browseMs, executeMs, cpu] = [times.floor, times.browse, times.execute, times.cpu].map((list) => {
  list.sort((a, b) => a - b);
  return { p50: percentile(list, 0.5), p95: percentile(list, 0.95) };
}) as [Spread, Spread, Spread, Spread];

interface Spread {
  p50: number;
  p95: number;
}

if (values.json) console.log(JSON.stringify({ floorMs, browseMs, executeMs, cpuMs: cpu }));
else {
  const line = (name: string, { p50, p95 }: Spread): void =>
    console.log(
      `${name.padEnd(24)} p50 ${p50.toFixed(0)} ms (${(p50 / floorMs.p50).toFixed(2)} x), p95 ${p95.toFixed(0)} ms`,
    );
  line('bare Node and listing', floorMs);
  line('browse after a kill', browseMs);
  line('call after a kill', executeMs);
  line('CPU of the successor', cpu);
}
