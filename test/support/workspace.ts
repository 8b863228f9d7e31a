import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';

/** The bundles under test. */
export const WAYGATE = resolve('dist/waygate.cjs');
export const WORKER = resolve('dist/worker.cjs');

export interface TestWorkspace {
  folder: string;
  stateDir: string;
  configFile: string;
  /** The environment of every process of the test: its own state, a short linger, nothing of the runner's. */
  env: NodeJS.ProcessEnv;
  configure(servers: Record<string, unknown>): void;
  write(name: string, text: string): string;
}

/** A workspace and a state folder of the test's own, gone with it. */
export function testWorkspace(servers?: Record<string, unknown>): TestWorkspace {
  const root = temporaryFolder('waygate-test-');
  const folder = join(root, 'workspace');
  const stateDir = join(root, 'state');
  mkdirSync(join(folder, '.vscode'), { recursive: true });
  const configFile = join(folder, '.vscode', 'waygate.json');
  const workspace: TestWorkspace = {
    folder,
    stateDir,
    configFile,
    env: { ...cleanEnvironment(), WAYGATE_STATE_DIR: stateDir, WAYGATE_LINGER_MS: '1000' },
    configure: (entries) => writeFileSync(configFile, JSON.stringify({ servers: entries }, null, 2)),
    write: (name, text) => {
      const file = join(folder, name);
      writeFileSync(file, text);
      return file;
    },
  };
  if (servers) workspace.configure(servers);
  return workspace;
}

export function temporaryFolder(prefix: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  return folder;
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(WAYGATE|VITEST|NODE_OPTIONS)/.test(name)),
  );
}

/** Real servers from npm, and those that the tests bring. */
export const servers = {
  everything: {
    command: process.execPath,
    args: [resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js')],
  },
  memory: {
    command: process.execPath,
    args: [resolve('node_modules/@modelcontextprotocol/server-memory/dist/index.js')],
  },
  filesystem: (folder: string) => ({
    command: process.execPath,
    args: [resolve('node_modules/@modelcontextprotocol/server-filesystem/dist/index.js'), folder],
  }),
  /** Everything that the conformance suites ask of a server. */
  conformance: {
    command: process.execPath,
    args: [resolve('test/fixtures/conformanceServer.mjs')],
  },
  /** `test/fixtures/server.mjs` with its flags. */
  fixture: (...flags: string[]) => ({
    command: process.execPath,
    args: [resolve('test/fixtures/server.mjs'), ...flags],
  }),
};
