import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { workspaceStateFolder } from '../../src/config/state/stateFolder.ts';
import { type Rendezvous, readRendezvous } from '../../src/link/rendezvous.ts';
import { until } from './hostProcess.ts';
import { type TestWorkspace, WAYGATE } from './workspace.ts';

const run = promisify(execFile);

export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the command line to its end. */
export async function waygate(workspace: TestWorkspace, args: readonly string[]): Promise<CommandResult> {
  try {
    const { stdout, stderr } = await run(process.execPath, [workspace.program ?? WAYGATE, ...args], {
      env: workspace.env,
      cwd: workspace.folder,
    });
    return { code: 0, stdout, stderr };
  } catch (error) {
    const { code, stdout, stderr } = error as CommandResult;
    return { code, stdout, stderr };
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
  }[];
  recentCalls: { subject: string; outcome: string }[];
  configuration: { problems: { message: string; location: { file: string; line: number } }[] };
}

export async function status(workspace: TestWorkspace): Promise<StatusReport> {
  const { stdout } = await waygate(workspace, ['status', '--json']);
  return JSON.parse(stdout) as StatusReport;
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
