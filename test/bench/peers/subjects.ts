import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename, join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { approveAll } from '../../support/approveAll.ts';
import { cpuMsOf } from '../measure.ts';

const SERVER = join(import.meta.dirname, 'echoServer.mjs');
const RELAY = join(import.meta.dirname, 'relay.mjs');
const WAYGATE = resolve('dist', 'waygate.cjs');
/** Marks the processes of a subject in their environment. */
const MARK = 'WAYGATE_BENCH_SUBJECT';
const START_MS = 30_000;

/** Gateway under measurement, or the server itself. */
export interface Subject {
  name: string;
  client: Client;
  echo(): Promise<unknown>;
  large(bytes: number): Promise<unknown>;
  close(): Promise<void>;
}

interface Place {
  folder: string;
  tools: number;
}

type Program = (place: Place, env: Record<string, string>) => Promise<Omit<Subject, 'name' | 'echo' | 'large'>>;

/** Names of the tools of the server, as a subject advertises them, and whether `tool_execute` runs them. */
interface Calls {
  prefix?: string;
  isExecuted?: boolean;
}

/** Folder of the installed peers, outside of the sources. */
const PEERS = resolve('.out', 'peers');
const peer = (name: string, file: string): string => join(PEERS, 'node_modules', name, file);

/** Installs the peers as test/bench/peers/package-lock.json names them, unless they are there. */
export function installPeers(): void {
  mkdirSync(PEERS, { recursive: true });
  const lock = join(PEERS, 'node_modules', '.package-lock.json');
  const wanted = join(import.meta.dirname, 'package-lock.json');
  if (existsSync(lock) && statSync(lock).mtimeMs > statSync(wanted).mtimeMs) return;
  for (const file of ['package.json', 'package-lock.json']) {
    copyFileSync(join(import.meta.dirname, file), join(PEERS, file));
  }
  const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', args, { cwd: PEERS, stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) throw new Error('The peers could not be installed; see the messages of npm above.');
}

async function connected(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(transport);
  return client;
}

/** The SDK's own class does not satisfy its interface under exactOptionalPropertyTypes. */
const streamable = (port: number): Transport =>
  new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)) as Transport;

async function overStdio(args: string[], env: Record<string, string>): ReturnType<Program> {
  const client = await connected(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }));
  return { client, close: () => client.close() };
}

/** Starts a gateway that listens, and connects as soon as it answers. */
async function overHttp(args: string[], env: Record<string, string>, transport: () => Transport): ReturnType<Program> {
  const child = spawn(process.execPath, args, { env, stdio: ['pipe', 'ignore', 'ignore'] });
  const end = Date.now() + START_MS;
  for (;;) {
    try {
      const client = await connected(transport());
      return { client, close: () => client.close().finally(() => ended(child)) };
    } catch (error) {
      if (Date.now() > end || child.exitCode !== null) {
        await ended(child);
        throw error;
      }
      await new Promise((done) => setTimeout(done, 100));
    }
  }
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exited = new Promise((done) => child.once('exit', done));
  child.kill();
  await exited;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

/** Writes an approved configuration and returns the arguments of `waygate serve`. */
function waygate({ folder, tools }: Place, env: Record<string, string>, ...more: string[]): string[] {
  mkdirSync(join(folder, '.vscode'), { recursive: true });
  const text = JSON.stringify({ servers: { bench: { command: process.execPath, args: [SERVER, String(tools)] } } });
  writeFileSync(join(folder, '.vscode', 'waygate.json'), text);
  Object.assign(env, { WAYGATE_STATE_DIR: join(folder, 'state'), WAYGATE_LINGER_MS: '1000' });
  approveAll(folder, join(folder, 'state'), folder, text);
  return [WAYGATE, 'serve', '--workspace', folder, ...more];
}

const PROGRAMS: Record<string, { run: Program } & Calls> = {
  direct: { run: ({ tools }, env) => overStdio([SERVER, String(tools)], env) },
  // The least that two processes can take, without and with the announcement of each call.
  relay: { run: ({ tools }, env) => overStdio([RELAY, SERVER, String(tools)], env) },
  'relay, announcing': { run: ({ tools }, env) => overStdio([RELAY, '--announce', SERVER, String(tools)], env) },
  'Waygate, gateway': {
    isExecuted: true,
    run: (place, env) => overStdio(waygate(place, env, '--mode', 'gateway'), env),
  },
  'Waygate, passthrough': { run: (place, env) => overStdio(waygate(place, env, '--mode', 'passthrough'), env) },
  'Waygate, HTTP': {
    isExecuted: true,
    async run(place, env) {
      const port = await freePort();
      const args = waygate(place, env, '--http', '--port', String(port), '--no-token', '--mode', 'gateway');
      return overHttp(args, env, () => streamable(port));
    },
  },
  'mcp-hub': {
    prefix: 'bench__',
    async run({ folder, tools }, env) {
      const port = await freePort();
      const config = join(folder, 'servers.json');
      const mcpServers = { bench: { command: process.execPath, args: [SERVER, String(tools)] } };
      writeFileSync(config, JSON.stringify({ mcpServers }));
      const args = [peer('mcp-hub', 'dist/cli.js'), '--port', String(port), '--config', config];
      return overHttp(args, env, () => new SSEClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));
    },
  },
  'mcp-proxy': {
    async run({ tools }, env) {
      const port = await freePort();
      const args = [peer('mcp-proxy', 'dist/bin/mcp-proxy.mjs'), '--host', '127.0.0.1', '--port', String(port)];
      args.push('--server', 'stream', '--', process.execPath, SERVER, String(tools));
      return overHttp(args, env, () => streamable(port));
    },
  },
  supergateway: {
    async run({ tools }, env) {
      const port = await freePort();
      const stdio = `"${process.execPath}" "${SERVER}" ${tools}`;
      const args = [peer('supergateway', 'dist/index.js'), '--stdio', stdio, '--port', String(port)];
      args.push('--outputTransport', 'streamableHttp', '--stateful', '--logLevel', 'none');
      return overHttp(args, env, () => streamable(port));
    },
  },
};

export const SUBJECTS = Object.keys(PROGRAMS);

/** Starts a subject and waits until its server answers. */
export async function start(name: string, folder: string, tools: number): Promise<Subject> {
  const { run, prefix = '', isExecuted = false } = PROGRAMS[name] as { run: Program } & Calls;
  mkdirSync(folder, { recursive: true });
  const env = { ...(process.env as Record<string, string>), [MARK]: folder };
  const { client, close } = await run({ folder, tools }, env);
  const ids = new Map<string, string>();
  const call = async (tool: string, args: Record<string, unknown>): Promise<void> => {
    if (isExecuted && !ids.has(tool)) ids.set(tool, await exactId(client, `bench:${tool}`));
    const answer = isExecuted
      ? await client.callTool({ name: 'tool_execute', arguments: { tool_id: ids.get(tool), args } })
      : await client.callTool({ name: `${prefix}${tool}`, arguments: args });
    if (answer.isError) throw new Error(`${name}: ${JSON.stringify(answer.content)}`);
  };
  let calls = 0;
  const subject: Subject = {
    name,
    client,
    close,
    // A text that was not seen before, as an agent's are.
    echo: () => call('echo', { text: `hello ${++calls}` }),
    large: (bytes) => call('large', { bytes }),
  };
  const end = Date.now() + START_MS;
  for (;;) {
    try {
      await subject.echo();
      return subject;
    } catch (error) {
      if (Date.now() > end) throw error;
      await new Promise((done) => setTimeout(done, 100));
    }
  }
}

/** Returns the id that `tool_browse` shows, with its hash. */
async function exactId(client: Client, id: string): Promise<string> {
  const question = { tool_id: id, args: {}, dry_run: true, render: 'json' };
  const { structuredContent } = await client.callTool({ name: 'tool_execute', arguments: question });
  const { tool_id: exact } = (structuredContent ?? {}) as { tool_id?: string };
  if (exact === undefined) throw new Error(`${id} is not ready: ${JSON.stringify(structuredContent)}`);
  return exact;
}

/** CPU time and memory of the processes of a subject, without the server behind it and without shells. */
export interface Use {
  processes: number;
  cpuMs: number;
  rssMb: number;
  privateMb: number;
  /** Private memory by program: Waygate's host and worker apart. */
  privateMbOf: Record<string, number>;
}

/** Reads the use of a subject from /proc; undefined on other systems than Linux. */
export function useOf(folder: string): Use | undefined {
  if (process.platform !== 'linux') return undefined;
  const use: Use = { processes: 0, cpuMs: 0, rssMb: 0, privateMb: 0, privateMbOf: {} };
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`${MARK}=${folder}\0`)) continue;
      const [, program, ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      // The server itself, or a shell that started it.
      if (program === SERVER || (program === '-c' && args.some((arg) => arg.includes(SERVER)))) continue;
      const memory = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
      const mb = (field: string): number => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(memory)?.[1]) / 1024;
      use.processes += 1;
      use.cpuMs += cpuMsOf(pid);
      use.rssMb += mb('Rss');
      const privateMb = mb('Private_Clean') + mb('Private_Dirty');
      use.privateMb += privateMb;
      const file = [program, ...args].find((arg) => /\.[cm]?js$/.test(arg ?? '')) ?? 'other';
      use.privateMbOf[basename(file)] = (use.privateMbOf[basename(file)] ?? 0) + privateMb;
    } catch {
      // The process ended, or belongs to another user.
    }
  }
  return use;
}
