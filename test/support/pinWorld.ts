import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ControlClient } from '../../src/control/client.ts';
import type { TrustDecision, TrustItem } from '../../src/control/trustContract.ts';
import { attachControl } from '../../src/host/attach/attachControl.ts';
import { rendezvous, runtimeOf, stateFolder, waygate } from './census.ts';
import { HostProcess, isAliveWith, until } from './hostProcess.ts';
import { type TestWorkspace, testWorkspace } from './workspace.ts';

export const TOOLS = ['alpha', 'bravo', 'charlie', 'delta'] as const;
export type Tool = (typeof TOOLS)[number];
export type Versions = Record<Tool, number>;
export const FIRST: Versions = { alpha: 1, bravo: 1, charlie: 1, delta: 1 };

/** Starts of a server among which its running processes are. */
const RECENT = 5;

/** Answer that no step permits: the seed and the step repeat it. */
/** Lines of the worker's log that a failure shows. */
const LOG_LINES = 60;

export class Violation extends Error {}

/** Facts that the user decided about a server, and the versions that it lists from now on. */
export class Model {
  accepted: Versions = { ...FIRST };
  listed: Versions = { ...FIRST };
  readonly blocked = new Set<Tool>();
  quarantined = false;
  damaged = false;
  /** Whether the gateway may not have listed the present versions yet. */
  stale = true;
  /** Worker that has listed them. Its successor may begin with an older list and corrects it at the server's start. */
  listedBy: number | undefined;

  /** Whether the user accepted a version of a tool, so that it may run. */
  mayRun(tool: Tool, version: number): boolean {
    return !this.damaged && !this.quarantined && !this.blocked.has(tool) && this.accepted[tool] === version;
  }

  /** Whether a call of a tool has to succeed. */
  mustRun(tool: Tool): boolean {
    return this.listed[tool] > 0 && this.mayRun(tool, this.listed[tool]);
  }

  get offered(): Tool[] {
    return TOOLS.filter((tool) => this.mustRun(tool));
  }
}

/** Configured server `name` of a world, its model, and the log of what its processes did. */
export class ModelledServer {
  readonly model = new Model();
  readonly isOurs: (pid: number) => boolean;
  readonly #log: string;
  readonly #versions: string;
  readonly name: string;
  #read = 0;

  constructor(workspace: TestWorkspace, name: string) {
    this.name = name;
    this.#versions = workspace.write(`${name}.json`, JSON.stringify(FIRST));
    this.#log = workspace.write(`${name}.log`, '');
    this.isOurs = isAliveWith(this.#versions);
  }

  get entry(): object {
    const args = [resolve('test/fixtures/versionedServer.mjs'), this.#versions, this.#log];
    return { command: process.execPath, args };
  }

  /** Writes other versions, which the server lists at its next list. */
  change(versions: Versions): void {
    this.model.listed = versions;
    this.model.stale = true;
    writeFileSync(this.#versions, JSON.stringify(versions));
  }

  /** Sends a signal to each running process, two during a rollout; returns the id of the newest. */
  signal(signal: NodeJS.Signals): number | undefined {
    const started = [...readFileSync(this.#log, 'utf8').matchAll(/^(\d+) started$/gm)].map(([, pid]) => Number(pid));
    const running = started.slice(-RECENT).filter((pid) => this.isOurs(pid));
    for (const pid of running) process.kill(pid, signal);
    return running.at(-1);
  }

  /** Returns the calls that ran since the last look. */
  newRuns(): { tool: Tool; version: number }[] {
    const text = readFileSync(this.#log, 'utf8');
    const fresh = text.slice(this.#read);
    this.#read = text.length;
    return [...fresh.matchAll(/^\d+ (\w+) (\w+)$/gm)].map(([, tool, version]) => ({
      tool: tool as Tool,
      version: Number(version),
    }));
  }
}

/** Workspace with two windows of a client, real servers, and the user at the control channel. */
export class PinWorld {
  readonly workspace: TestWorkspace;
  readonly servers: readonly ModelledServer[];
  readonly hosts: HostProcess[] = [];
  #control: ControlClient | undefined;
  #edits = 0;

  private constructor(workspace: TestWorkspace, names: readonly string[]) {
    this.workspace = workspace;
    this.servers = names.map((name) => new ModelledServer(workspace, name));
  }

  /** Opens a workspace; with `beside`, on the state folder of another one. */
  static async open(names: readonly string[], windows: number, beside?: PinWorld): Promise<PinWorld> {
    const workspace = testWorkspace();
    // The kills are too frequent for the crash loop limit, which other tests cover.
    workspace.env.WAYGATE_RESTART_LIMITS = JSON.stringify({ crashes: 1_000_000, maxDelayMs: 0 });
    if (beside) {
      workspace.stateDir = beside.workspace.stateDir;
      workspace.env.WAYGATE_STATE_DIR = workspace.stateDir;
    }
    const world = new PinWorld(workspace, names);
    world.edit();
    workspace.approve();
    for (let window = 0; window < windows; window++) await world.openWindow(window);
    for (const { name, model } of world.servers) {
      for (const tool of TOOLS) await world.hosts[0]?.toolId(`/${name}/${tool}`);
      Object.assign(model, { stale: false, listedBy: world.worker });
    }
    return world;
  }

  /** Opens a window, or kills the host of one and opens it again. */
  async openWindow(index: number): Promise<void> {
    this.hosts[index]?.child.kill('SIGKILL');
    this.hosts[index] = await HostProcess.connect(this.workspace);
  }

  /** Writes the configuration with a setting that concerns no server. */
  edit(): void {
    this.#edits += 1;
    const servers = Object.fromEntries(this.servers.map(({ name, entry }) => [name, entry]));
    const retry = { maxAttempts: 10 + (this.#edits % 2), baseDelay: 0.01, maxDelay: 0.2 };
    const text = JSON.stringify({ replay: { default: 'convergent' }, retry, servers });
    writeFileSync(this.workspace.configFile, text);
  }

  get pinsFile(): string {
    return join(stateFolder(this.workspace), 'pins.json');
  }

  get worker(): number | undefined {
    return rendezvous(this.workspace)?.pid;
  }

  /** Last lines of the worker's log. */
  get log(): string {
    return readFileSync(join(stateFolder(this.workspace), 'worker.log'), 'utf8')
      .split('\n')
      .slice(-LOG_LINES)
      .join('\n');
  }

  killWorker(): void {
    const pid = this.worker;
    if (pid !== undefined && isAliveWith(this.workspace.folder)(pid)) process.kill(pid, 'SIGKILL');
  }

  async rollOut(): Promise<void> {
    const { code, stderr } = await waygate(this.workspace, ['reload']);
    if (code !== 0) throw new Violation(`the rollout failed: ${stderr}`);
    // As the editor does when its worker is superseded.
    this.#detach();
  }

  /** Asks the worker, and the next one if it is gone. */
  async ask<T>(request: (control: ControlClient) => Promise<T>): Promise<T> {
    return until('an answer of the worker', async () => {
      try {
        this.#control ??= await attachControl(runtimeOf(this.workspace), { start: true, holds: false });
        return this.#control && { answer: await request(this.#control) };
      } catch {
        this.#detach();
        return undefined;
      }
    }).then(({ answer }) => answer);
  }

  /** Returns what the user sees of a tool; `undefined` if it is approved or not listed. */
  async shown(server: string, tool: Tool): Promise<TrustItem | undefined> {
    const [review] = await this.ask((control) => control.request('trust', { server }));
    return review?.items.find(({ key }) => key === `tools:${tool}`);
  }

  async decide(decision: TrustDecision): Promise<string | undefined> {
    const { reason } = await this.ask((control) => control.request('decide', { ...decision, actor: 'person-cli' }));
    return reason;
  }

  /** Lists all servers anew. */
  async refresh(): Promise<void> {
    await this.ask((control) => control.request('refresh', {}));
  }

  #detach(): void {
    this.#control?.dispose();
    this.#control = undefined;
  }

  close(): void {
    this.#detach();
    for (const host of this.hosts) host.end();
  }
}
