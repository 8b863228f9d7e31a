// Runs the suite inside a real VS Code through test-electron's runTests. On Linux that is the server build in a
// headless Chromium; with --desktop, and on other systems, a desktop VS Code that test-electron downloads.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runTests, TestRunFailedError } from '@vscode/test-electron';
import { chromium, type Page } from 'playwright-core';
import { ensureCacheFolder } from '../../../scripts/lib/cache.mjs';
import { writeDemoWorkspace } from '../../../scripts/lib/demo.mjs';
import { ensureServerBuild } from '../../../scripts/lib/serverBuild.mjs';
import { installPacked } from '../../../scripts/lib/serverEditor.mjs';
import { ensureBrowser } from '../../../scripts/lib/systemPackages.mjs';
import { packBuilt } from '../../../scripts/lib/vsix.mjs';
import { REPORT_FILE, type SuiteReport } from './driverProtocol.ts';
import { startDriver } from './driverServer.ts';
import { endLeftovers } from './leftovers.ts';

const harness = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(dirname(harness)));
const out = join(root, '.out');

/** Version that `npm run test:desktop` downloads: the version of the server build, so that both run the same tests. */
const DESKTOP_VERSION = '1.139.1';
const RUN_LIMIT_MS = 10 * 60_000;

/**
 * Disables prompts, animations and telemetry. Written before the start and never changed, because some of these
 * settings restart the extension host.
 */
const SETTINGS = {
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoUpdate': false,
  'extensions.autoCheckUpdates': false,
  'extensions.ignoreRecommendations': true,
  'workbench.startupEditor': 'none',
  'workbench.welcomePage.experimentalOnboarding': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.enableExperiments': false,
  'workbench.reduceMotion': 'on',
  'window.restoreWindows': 'none',
  'git.enabled': false,
};

interface Scratch {
  folder: string;
  userData: string;
  extensions: string;
  /** Workspace of one folder, so that a test adds another without a restart of the extension host. */
  workspace: string;
  environment: Record<string, string>;
}

/** Creates new folders for all files of VS Code, Waygate and the servers. */
function makeScratch(): Scratch {
  // Short, because it contains sockets, whose paths may have only 100 characters.
  const folder = mkdtempSync(join(tmpdir(), 'wg-'));
  const below = (...names: string[]) => {
    const path = join(folder, ...names);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  };
  const userData = below('data');
  writeFileSync(join(below('data', 'User'), 'settings.json'), JSON.stringify(SETTINGS, null, 2));
  writeDemoWorkspace(root, below('workspace'));
  const workspace = join(folder, 'test.code-workspace');
  writeFileSync(workspace, JSON.stringify({ folders: [{ path: 'workspace' }] }));
  const home = below('home');
  return {
    folder,
    userData,
    extensions: below('extensions'),
    workspace,
    environment: {
      HOME: home,
      XDG_CACHE_HOME: below('home', '.cache'),
      XDG_CONFIG_HOME: below('home', '.config'),
      XDG_DATA_HOME: below('home', '.local', 'share'),
      XDG_STATE_HOME: below('home', '.local', 'state'),
      // Servers of these tests write outside of the workspace; test/integration/walls.test.ts tests walls. Those of the
      // pictures have walls, as a reader's have.
      ...(process.env.WAYGATE_PICTURE_PIXELS === undefined && { WAYGATE_WALLS: 'off' }),
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  if (address === null || typeof address === 'string') throw new Error('The system gave no free port.');
  return address.port;
}

/**
 * Returns the workbench's page in a desktop VS Code, which shows its windows at the debugging port some time after its
 * start.
 */
async function attachToDesktop(port: number): Promise<Page> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    try {
      const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`);
      const pages = browser.contexts().flatMap((context) => context.pages());
      const page = pages.find((candidate) => candidate.url().includes('workbench'));
      if (page !== undefined) return page;
      await browser.close();
    } catch {
      // Not listening yet.
    }
    if (Date.now() > deadline) throw new Error(`No VS Code window showed at the debugging port ${port}.`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

const desktop = process.argv.includes('--desktop') || process.platform !== 'linux';

const report = process.env[REPORT_FILE] ?? join(out, 'reports', 'editor.json');

function expectComplete(): void {
  const found = existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as SuiteReport) : undefined;
  if (!found?.complete)
    throw new Error("VS Code's extension host ended in the middle of the tests: see .out/editor.log.");
}

async function runIn(scratch: Scratch): Promise<void> {
  const logFile = join(out, 'editor.log');
  const screenshots = join(out, 'screenshots');
  mkdirSync(dirname(report), { recursive: true });
  for (const stale of [report, logFile, screenshots]) rmSync(stale, { recursive: true, force: true });
  const common = {
    // Carries the tests, so that the extension under test is the installed one.
    extensionDevelopmentPath: join(harness, 'carrier'),
    extensionTestsPath: join(root, 'dist', 'test', 'editor', 'index.cjs'),
  };
  const launchArgs = [
    scratch.workspace,
    `--user-data-dir=${scratch.userData}`,
    `--extensions-dir=${scratch.extensions}`,
    '--disable-telemetry',
  ];
  const environment = { ...scratch.environment, [REPORT_FILE]: report };

  if (desktop) {
    const port = await freePort();
    const driver = await startDriver(() => attachToDesktop(port), screenshots);
    try {
      await runTests({
        ...common,
        extensionDevelopmentPath: [root, common.extensionDevelopmentPath],
        version: DESKTOP_VERSION,
        cachePath: join(ensureCacheFolder(), 'desktop'),
        launchArgs: [...launchArgs, `--remote-debugging-port=${port}`],
        extensionTestsEnv: { ...environment, ...driver.environment },
      });
    } finally {
      driver.close();
    }
    return;
  }

  const build = await ensureServerBuild(root);
  await installPacked(root, build, await packBuilt(root, scratch.folder), scratch.folder);
  await runTests({
    ...common,
    vscodeExecutablePath: join(harness, 'serverEditor.ts'),
    launchArgs,
    extensionTestsEnv: {
      ...environment,
      XDG_RUNTIME_DIR: scratch.folder,
      WAYGATE_EDITOR_NODE: build.node,
      WAYGATE_EDITOR_SERVER: build.server,
      WAYGATE_EDITOR_LOG: logFile,
      WAYGATE_CHROMIUM: await ensureBrowser(root),
      WAYGATE_SCREENSHOTS: screenshots,
    },
  });
}

const scratch = makeScratch();
function clean(): void {
  for (const { pid, command } of endLeftovers(scratch.folder)) console.log(`Left behind and ended: ${pid} ${command}`);
  rmSync(scratch.folder, { recursive: true, force: true, maxRetries: 3 });
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    clean();
    process.exit(1);
  });
}
setTimeout(() => {
  console.error(`The suite inside VS Code did not end within ${RUN_LIMIT_MS / 60_000} minutes.`);
  clean();
  process.exit(1);
}, RUN_LIMIT_MS).unref();

try {
  await runIn(scratch);
  expectComplete();
} catch (error) {
  process.exitCode = 1;
  if (error instanceof TestRunFailedError) console.error(`${error.message}. VS Code's own words: .out/editor.log`);
  else console.error(error instanceof Error ? error.message : error);
} finally {
  clean();
}
