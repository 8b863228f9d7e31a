import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { status } from './census.ts';
import { GatewaySession } from './gateway.ts';
import { type Effect, type Outcome, readEffects } from './historyChecker.ts';
import { HostProcess, pidsIn, type StreamClient, type ToolAnswer, withoutIdNote } from './hostProcess.ts';
import { type HttpServer, startHttpServer } from './httpServer.ts';
import { servers, type TestWorkspace, testWorkspace } from './workspace.ts';

/** Action of a fault server instead of an answer; `test/fixtures/faultServer.mjs` lists them. */
export type FaultAction = string | Record<string, unknown>;

export interface FaultStep {
  on: string;
  nth?: number;
  life?: number;
  tool?: string;
  nonce?: string;
  do: readonly FaultAction[];
}

export interface FaultScript {
  steps?: readonly FaultStep[];
  tools?: readonly unknown[];
  pages?: Record<string, unknown>;
  version?: string;
}

export interface FaultGatewayOptions {
  /** Uses HTTP, with a JSON body or a stream of events as answer. */
  http?: 'json' | 'sse';
  /** Further flags of the server. */
  flags?: readonly string[];
  /** Further blocks of the configuration: time limits, contracts. */
  blocks?: Record<string, unknown>;
  /** True if the faulty server is expected to become ready. */
  ready?: boolean;
}

export interface TimedAnswer extends ToolAnswer {
  ms: number;
}

const FAULT_SERVER = resolve('test/fixtures/faultServer.mjs');

/** Gateway with two servers: one that acts faults by a script, and one that must not be affected. */
export class FaultGateway<Client extends StreamClient = StreamClient> {
  readonly workspace: TestWorkspace;
  readonly host: Client;
  readonly #effects: string;
  readonly #pids: string;
  readonly #log: string;

  private constructor(workspace: TestWorkspace, host: Client, files: Record<'effects' | 'pids' | 'log', string>) {
    this.workspace = workspace;
    this.host = host;
    this.#effects = files.effects;
    this.#pids = files.pids;
    this.#log = files.log;
  }

  /** Opens a gateway inside the test's own process. */
  static open(script: FaultScript, options: FaultGatewayOptions = {}): Promise<FaultGateway<GatewaySession>> {
    return FaultGateway.#open(script, options, (workspace) => GatewaySession.connect(workspace));
  }

  /** Opens a gateway with its own processes: for tests that end one, or measure one. */
  static spawn(script: FaultScript, options: FaultGatewayOptions = {}): Promise<FaultGateway<HostProcess>> {
    return FaultGateway.#open(script, options, (workspace) => HostProcess.connect(workspace));
  }

  static async #open<Client extends StreamClient>(
    script: FaultScript,
    options: FaultGatewayOptions,
    connect: (workspace: TestWorkspace) => Promise<Client>,
  ): Promise<FaultGateway<Client>> {
    const workspace = testWorkspace();
    const effects = workspace.write('effects.jsonl', '');
    const pids = workspace.write('pids.txt', '');
    const log = workspace.write('received.jsonl', '');
    const scriptFile = workspace.write('script.json', JSON.stringify(script));
    const files = ['--script-file', scriptFile, '--effects', effects, '--pid-file', pids, '--log', log];
    const flags = [...files, ...(options.flags ?? [])];
    const faulty = options.http ? await overHttp(options.http, flags) : stdio(flags);
    workspace.write(
      '.vscode/waygate.json',
      JSON.stringify({ ...options.blocks, servers: { faulty, other: servers.fixture() } }),
    );
    workspace.approve();
    const gateway = new FaultGateway(workspace, await connect(workspace), { effects, pids, log });
    await gateway.host.toolId('/other/echo');
    if (options.ready !== false) await gateway.host.toolId('/faulty/act');
    return gateway;
  }

  /** Calls the faulty server's tool that has an effect. */
  act(nonce: string, tool = 'act'): Promise<TimedAnswer> {
    return this.#timed('faulty', tool, { nonce });
  }

  /** Calls the other server and returns its answer, which shows whether it works. */
  async other(): Promise<string> {
    return (await this.#timed('other', 'echo', { text: 'undisturbed' })).text;
  }

  get effects(): Effect[] {
    return readEffects(this.#effects);
  }

  effectsOf(nonce: string): number {
    return this.effects.filter((effect) => effect.nonce === nonce).length;
  }

  /** Beginnings of all messages that the faulty server has received. */
  get received(): string[] {
    return readFileSync(this.#log, 'utf8').split('\n').filter(Boolean);
  }

  /** Processes of the faulty server so far. */
  get lives(): number[] {
    return pidsIn(this.#pids);
  }

  /** Processes that it has started and that hold its pipes. */
  get grandchildren(): number[] {
    return pidsIn(`${this.#pids}.grandchildren`);
  }

  async faulty(): Promise<{ state: string; reason?: string; pid?: number }> {
    const { servers: all } = await status(this.workspace);
    return all.find(({ name }) => name === 'faulty') as { state: string };
  }

  async #timed(server: string, tool: string, args: Record<string, unknown>): Promise<TimedAnswer> {
    const started = performance.now();
    const answer = withoutIdNote(await this.host.call('tool_execute', { tool_id: `${server}:${tool}`, args }));
    return { ...answer, ms: performance.now() - started };
  }
}

export const UNDISTURBED = 'ok\nundisturbed\n';

function stdio(flags: readonly string[]) {
  return { command: process.execPath, args: [FAULT_SERVER, ...flags] };
}

async function overHttp(kind: 'json' | 'sse', flags: readonly string[]): Promise<{ url: string }> {
  const more = kind === 'sse' ? ['--http', '--sse'] : ['--http'];
  const { url }: HttpServer = await startHttpServer(FAULT_SERVER, [...flags, ...more]);
  return { url };
}

/** Reads the outcome of a call from an answer of `tool_execute`. */
export function outcomeOf({ text, isError }: ToolAnswer): Outcome {
  if (!isError) return 'ok';
  if (text.includes('outcome: unknown')) return 'unknown';
  // The server of the tool is not available yet, so the call was not sent.
  if (text.includes('outcome: not_dispatched') || text.includes('There is no tool')) return 'not_dispatched';
  return 'failed';
}
