import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { workspaceStateFolder } from '../../src/config/state/stateFolder.ts';
import { GatewayGoneError } from '../../src/control/client.ts';
import type { ControlRequests } from '../../src/control/contract.ts';
import type { ServerHealth } from '../../src/control/healthContract.ts';
import { attachControl, type GatewayRuntime } from '../../src/host/attach/attachControl.ts';
import { type Rendezvous, readRendezvous } from '../../src/link/rendezvous.ts';
import { giveCompiledCode } from './compileCache.ts';
import { isAlive, until } from './hostProcess.ts';
import { type TestWorkspace, WAYGATE, WORKER } from './workspace.ts';

const run = promisify(execFile);

export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the command line to its end, with `input` on its standard input. */
export async function waygate(
  workspace: TestWorkspace,
  args: readonly string[],
  input?: string,
): Promise<CommandResult> {
  giveCompiledCode(workspace.stateDir);
  try {
    const running = run(process.execPath, [workspace.program ?? WAYGATE, ...args], {
      env: workspace.env,
      cwd: workspace.folder,
    });
    if (input !== undefined) running.child.stdin?.end(input);
    const { stdout, stderr } = await running;
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as CommandResult;
    return { code, stdout, stderr };
  }
}

/** Approves servers by the hashes that `waygate approve` shows; all that wait without names. */
export async function approveShown(workspace: TestWorkspace, ...names: string[]): Promise<void> {
  const { stdout } = await waygate(workspace, ['approve', '--json']);
  const { servers } = JSON.parse(stdout) as { servers: { name: string; state: string; hash: string }[] };
  const waiting = servers.filter(({ state }) => state === 'not approved' || state === 'changed');
  for (const { name, hash } of waiting.filter((server) => names.length === 0 || names.includes(server.name))) {
    const { code, stderr } = await waygate(workspace, ['approve', name, '--hash', hash.slice(0, 8)]);
    if (code !== 0) throw new Error(stderr);
  }
}

export interface StatusReport {
  worker: { pid: number; build: string; uptimeMs: number; state: string } | null;
  sessions: { client: string; clientVersion: string; protocolVersion: string; mode?: string }[];
  servers: {
    name: string;
    state: string;
    pid?: number;
    toolCount: number;
    reason?: string;
    secret?: { key: string };
    location?: { line: number };
    held?: { name: string; part: string; why: string }[];
  }[];
  recentCalls: { subject: string; phase: string; outcome?: string }[];
  configuration: { problems: { message: string; location: { file: string; line: number } }[] };
}

/** Stops the gateway as `waygate stop` does; its process may be the test's own. */
export async function stopGateway(workspace: TestWorkspace): Promise<void> {
  const control = await attachControl(runtimeOf(workspace), { start: false, holds: false });
  if (!control) return;
  const { worker } = await control.request('status', {});
  const closed = new Promise<void>((resolve) => control.onClose(() => resolve()));
  await control.request('stop', {});
  await closed;
  control.dispose();
  await until('the end of the gateway', () =>
    worker.pid === process.pid ? rendezvous(workspace) === undefined : !isAlive(worker.pid),
  );
}

/** Returns the report of `waygate status --json` without starting a process. */
export async function status(workspace: TestWorkspace): Promise<StatusReport> {
  const report = await asked(workspace, 'status');
  if (!report)
    return { workspace: workspace.folder, worker: null, sessions: [], servers: [] } as unknown as StatusReport;
  const { worker, health, ...rest } = report;
  return { ...rest, worker: { ...worker, state: health } } as unknown as StatusReport;
}

/** Returns what a running worker reports about the health of a server. */
export async function healthOf(workspace: TestWorkspace, server: string): Promise<ServerHealth | undefined> {
  return (await asked(workspace, 'health'))?.servers.find(({ name }) => name === server);
}

/** Releases servers that the scan put into quarantine, as a person who has looked at them would. */
export async function release(workspace: TestWorkspace, ...servers: readonly string[]): Promise<void> {
  const control = await until('a worker', () => attachControl(runtimeOf(workspace), { start: false, holds: false }));
  for (const server of servers) {
    await until(`the quarantine of ${server}`, async () =>
      (await control.request('trust', { server })).some(({ quarantine }) => quarantine !== undefined),
    );
    await control.request('decide', { action: 'release', server, actor: 'person-cli' });
  }
  control.dispose();
}

/** Asks the running worker, if there is one; again if it is replaced meanwhile. */
async function asked<Name extends 'status' | 'health'>(
  workspace: TestWorkspace,
  name: Name,
): Promise<ControlRequests[Name]['result'] | undefined> {
  for (let attempt = 1; ; attempt++) {
    const control = await attachControl(runtimeOf(workspace), { start: false, holds: false });
    if (!control) return undefined;
    try {
      return await control.request(name, {});
    } catch (error) {
      if (!(error instanceof GatewayGoneError) || attempt === 3) throw error;
    } finally {
      control.dispose();
    }
  }
}

export function runtimeOf({ folder, stateDir, env }: TestWorkspace): GatewayRuntime {
  return { workspace: folder, stateDir, env, nodePath: process.execPath, workerScript: WORKER };
}

/** Delays the start of servers with this file until enough sessions exist to receive their list changes. */
export function startHeld(workspace: TestWorkspace) {
  const file = workspace.write('held', '');
  const letGo = async (sessions: number): Promise<void> => {
    await until('the sessions', async () => {
      const there = (await status(workspace)).sessions.filter(({ client }) => client === 'test-client');
      return there.length === sessions;
    });
    rmSync(file);
  };
  return { flags: ['--start-held-by', file], letGo };
}

export function stateFolder(workspace: TestWorkspace): string {
  return workspaceStateFolder(workspace.folder, workspace.stateDir);
}

export function rendezvous(workspace: TestWorkspace): Rendezvous | undefined {
  return readRendezvous(stateFolder(workspace));
}

/** Returns the workers of a workspace according to the operating system. */
export async function workersOf(workspace: TestWorkspace): Promise<number[]> {
  const { stdout } = await run('ps', ['-eo', 'pid=,args=']);
  return stdout
    .split('\n')
    .filter((line) => line.includes('worker.cjs') && line.includes(`--workspace ${workspace.folder} `))
    .map((line) => Number.parseInt(line, 10));
}
