import { globSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { packExtension } from '../../../scripts/lib/vsix.mjs';
import { workspaceStateFolder } from '../../../src/config/state/stateFolder.ts';
import { ArtifactStore, WORKSPACE_OWNER } from '../../../src/results/artifacts/artifactStore.ts';
import { textContent } from '../../../src/results/envelope/partContent.ts';
import { groupDigits } from '../../../src/text/porcelain.ts';
import { generatedListings } from '../../catalog/sampleListings.ts';
import { type OrdinaryWindow, openOrdinaryWindow } from '../../editor/harness/ordinaryWindow.ts';
import { approveAll } from '../../support/approveAll.ts';

/** Servers and their tools: 10,020 in all, and one more server with a tool that has to be asked about. */
export const SERVERS = 12;
const TOOLS_EACH = 834;
/** Lines of a kept result of 40 MB. */
const LARGE_LINES = 570_000;
/** Results of that size. */
export const LARGE = 3;
/** Time for the window and 12 servers to start on a machine that does other work. */
const START_MS = 180_000;

const DROP = { name: 'drop', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } };

/** Window of an installed Waygate with many tools and large results, as a user has it. */
export interface BenchWindow {
  page: Page;
  /** Folder of the workspace. */
  folder: string;
  env: NodeJS.ProcessEnv;
  /** Times of activation in milliseconds that the extension has logged, in their order. */
  activations(): number[];
  /** Process of the present extension host. */
  extensionHost(): number;
  worker(): number;
  close(): Promise<void>;
}

export async function openBenchWindow(): Promise<BenchWindow> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'wg-bench-')));
  const folder = join(root, 'workspace');
  const state = join(root, 'state');
  const env = {
    ...process.env,
    WAYGATE_STATE_DIR: state,
    WAYGATE_CONFIG_DIR: join(root, 'user'),
    WAYGATE_WALLS: 'off',
    WAYGATE_LINGER_MS: '60000',
  };
  let window: OrdinaryWindow | undefined;
  const close = async (): Promise<void> => {
    await window?.close();
    for (const pid of workersOf(state)) endProcess(pid);
    rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  };
  try {
    configure(root, folder, state, env);
    await keepLargeResults(join(workspaceStateFolder(folder, state), 'artifacts'));
    window = await openOrdinaryWindow({
      folder,
      env,
      extension: await packExtension(resolve('.')),
      payload: [['logLevel', 'waygate.waygate:debug']],
    });
    const { page, data, pid } = window;
    await allTools(page);
    return {
      page,
      folder,
      env,
      activations: () =>
        globSync('data/logs/**/Waygate.log', { cwd: data })
          .flatMap((file) => [
            ...readFileSync(join(data, file), 'utf8').matchAll(/^(\S+ \S+).*Activated in ([\d.]+) ms/gm),
          ])
          .sort(([, a = ''], [, b = '']) => a.localeCompare(b))
          .map(([, , ms]) => Number(ms)),
      extensionHost: () => newest(descendants(pid).filter((one) => commandOf(one).includes('--type=extensionHost'))),
      worker: () => newest(workersOf(state)),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Waits until the status bar counts the tools of all servers. */
export async function allTools(page: Page): Promise<void> {
  const tools = SERVERS * (TOOLS_EACH + 1) + 1;
  await statusItem(page)
    .and(page.locator(`[aria-label*="${groupDigits(tools)} tools from ${SERVERS + 1} servers"]`))
    .waitFor({ timeout: START_MS });
}

export const statusItem = (page: Page): Locator => page.locator('.statusbar-item', { hasText: 'Waygate' }).first();

/** Returns the processor time of a process in milliseconds (Linux), in steps of 10. */
export function cpuMs(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Returns the memory of a process that is its own, in MB (Linux). */
export function memoryMb(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1_024;
}

function configure(root: string, folder: string, state: string, env: NodeJS.ProcessEnv): void {
  mkdirSync(join(folder, '.vscode'), { recursive: true });
  const program = (fixture: string, ...args: string[]): object => ({
    command: process.execPath,
    args: [resolve('test/fixtures', fixture), ...args],
  });
  const servers: Record<string, object> = {
    erp: program('faultServer.mjs', '--script', JSON.stringify({ tools: [DROP] })),
  };
  for (const { server, tools } of generatedListings(SERVERS, TOOLS_EACH)) {
    const listing = join(root, `${server}.json`);
    writeFileSync(listing, JSON.stringify({ tools }));
    servers[server] = program('changingServer.mjs', listing, `${listing}.calls`);
  }
  const file = join(folder, '.vscode', 'waygate.json');
  const text = JSON.stringify({ servers });
  writeFileSync(file, text);
  approveAll(folder, state, file, text, env);
}

/** Keeps results that no answer of a server may have. */
async function keepLargeResults(artifacts: string): Promise<void> {
  for (let result = 0; result < LARGE; result++) {
    const store = new ArtifactStore({ folder: artifacts });
    const lines = Array.from({ length: LARGE_LINES }, (_, line) => `line ${line} of ${result}: ${'x'.repeat(57)}`);
    await store.store({
      kind: 'text',
      source: 'erp:large',
      content: textContent(lines.join('\n')),
      mediaType: 'text/plain',
      label: 'text',
      owner: WORKSPACE_OWNER,
    });
  }
}

function workersOf(state: string): number[] {
  return globSync('workspaces/*/worker.json', { cwd: state }).map(
    (file) => (JSON.parse(readFileSync(join(state, file), 'utf8')) as { pid: number }).pid,
  );
}

/** Returns the fields behind the name of a process: its state, its parent and so on. */
function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function descendants(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of globSync('[0-9]*', { cwd: '/proc' })) {
    try {
      parents.set(Number(name), Number(statOf(Number(name))[1]));
    } catch {
      // The process has ended.
    }
  }
  const isBelow = (one: number): boolean => {
    const parent = parents.get(one);
    return parent !== undefined && (parent === pid || isBelow(parent));
  };
  return [...parents.keys()].filter(isBelow);
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

function newest(pids: readonly number[]): number {
  const last = pids.toSorted((a, b) => Number(statOf(a)[19]) - Number(statOf(b)[19])).at(-1);
  if (last === undefined) throw new Error('The process is not there.');
  return last;
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has ended.
  }
}
