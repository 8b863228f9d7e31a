/**
 * Measures `tool_browse` and `tool_execute` from a request's line to the line of its answer, without a client's own work,
 * against a call through a bare relay of two processes: the floor of this design. All run in alternating blocks of one
 * run. Compare ratios only.
 * `node test/bench/browseCalls.ts [--calls N] [--servers N] [--json]`, after `npm run build`. `--servers`: further servers
 * of six tools, beside the one with 300.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { approveAll } from '../support/approveAll.ts';
import { percentile } from './measure.ts';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '1500' },
    servers: { type: 'string', default: '0' },
    json: { type: 'boolean', default: false },
  },
});
const TOOLS = '300';
const BLOCK = 100;
/** Compiled code of a process is fast after some thousand calls. */
const WARM_CALLS = 3_000;
const SERVER = resolve('test/bench/peers/echoServer.mjs');
const root = mkdtempSync(join(tmpdir(), 'waygate-bench-'));

/** Client of a server over stdio that reads nothing of an answer but its id. */
class BareClient {
  readonly #child: ChildProcess;
  readonly #open = new Map<number, (line: string) => void>();
  #next = 0;
  #rest = '';

  constructor(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    this.#child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'ignore'] });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const lines = `${this.#rest}${text}`.split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) this.#open.get(Number(/"id":(\d+)/.exec(line)?.[1]))?.(line);
    });
  }

  request(method: string, params: object): Promise<string> {
    const id = this.#next++;
    return new Promise((done) => {
      this.#open.set(id, done);
      this.#say({ id, method, params });
    });
  }

  call(name: string, args: object): Promise<string> {
    return this.request('tools/call', { name, arguments: args });
  }

  async greet(): Promise<this> {
    const clientInfo = { name: 'bench', version: '1' };
    await this.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    this.#say({ method: 'notifications/initialized' });
    return this;
  }

  async end(): Promise<void> {
    const exited = new Promise((done) => this.#child.once('exit', done));
    this.#child.stdin?.end();
    await exited;
  }

  #say(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}

function gatewayOf(servers: number): BareClient {
  const small = { command: process.execPath, args: [resolve('test/fixtures/server.mjs')] };
  const others = Array.from({ length: servers }, (_, i) => [`small${i}`, small]);
  const bench = { command: process.execPath, args: [SERVER, TOOLS] };
  const text = JSON.stringify({ servers: { bench, ...Object.fromEntries(others) } });
  mkdirSync(join(root, '.vscode'));
  writeFileSync(join(root, '.vscode', 'waygate.json'), text);
  const state = join(root, 'state');
  approveAll(root, state, root, text);
  const args = [resolve('dist/waygate.cjs'), 'serve', '--workspace', root];
  return new BareClient(args, { WAYGATE_STATE_DIR: state, WAYGATE_LINGER_MS: '1000', WAYGATE_WALLS: 'off' });
}

const relay = await new BareClient([resolve('test/bench/peers/relay.mjs'), SERVER, TOOLS]).greet();
const gateway = await gatewayOf(Number(values.servers)).greet();
const subjects: Readonly<Record<string, (n: number) => Promise<string>>> = {
  relay: (n) => relay.call('echo', { text: `text ${n}` }),
  tool_browse: (n) => gateway.call('tool_browse', { query: `price of inventory entry ${n * 7}` }),
  tool_execute: (n) => gateway.call('tool_execute', { tool_id: 'bench:echo', args: { text: `text ${n}` } }),
};
const times: Record<string, number[]> = {};
try {
  const isComplete = async () =>
    (await gateway.call('tool_browse', { path: '/', format: 'json' })).includes('complete\\":true');
  for (let tries = 0; tries < 600 && !(await isComplete()); tries++) await sleep(100);
  let made = 0;
  for (const [rounds, isMeasured] of [
    [WARM_CALLS, false],
    [Number(values.calls), true],
  ] as const) {
    for (const name of Object.keys(subjects)) times[name] = [];
    for (let done = 0; done < rounds; done += BLOCK) {
      for (const [name, run] of Object.entries(subjects)) {
        for (let n = 0; n < BLOCK; n++) {
          const started = performance.now();
          const answer = await run(made++);
          if (isMeasured) times[name]?.push(performance.now() - started);
          if (answer.includes('"isError":true')) throw new Error(`${name} failed: ${answer.slice(0, 300)}`);
        }
      }
    }
  }
} finally {
  await Promise.allSettled([relay.end(), gateway.end()]);
  rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
const rows = Object.entries(times).map(([name, all]) => {
  all.sort((a, b) => a - b);
  return { name, p50Ms: percentile(all, 0.5), p90Ms: percentile(all, 0.9) };
});
if (values.json) console.log(JSON.stringify(rows));
else {
  const floor = rows[0]?.p50Ms as number;
  for (const { name, p50Ms, p90Ms } of rows) {
    const ratio = `${(p50Ms / floor).toFixed(1)} x the relay`;
    console.log(`${name.padEnd(13)} p50 ${p50Ms.toFixed(3)} ms, p90 ${p90Ms.toFixed(3)} ms, ${ratio}`);
  }
}
