import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { parseConfig } from '../../src/config/loadConfig.ts';
import { approvable, approvalsOf } from '../../src/config/state/approvals.ts';

/** The bundles under test. */
export const WAYGATE = resolve('dist/waygate.cjs');
export const WORKER = resolve('dist/worker.cjs');

export interface TestWorkspace {
  folder: string;
  stateDir: string;
  configFile: string;
  /** The person's own `waygate.json`, for every workspace. */
  userConfigFile: string;
  /** The environment of every process of the test: its own state, a short linger, nothing of the runner's or his shell's. */
  env: NodeJS.ProcessEnv;
  /** The `waygate` of another build than the one under test. */
  program?: string;
  /** Writes the configuration and approves what it names, as a person would. */
  configure(servers: Record<string, unknown>): void;
  /** Approves what the configuration names now: for a test that writes it otherwise. */
  approve(): void;
  write(name: string, text: string): string;
  /** What the fixtures' `wait` and `work` wait for as `until`: that this file is there. */
  gate: string;
  /** Lets them go. */
  letGo(): void;
}

/** A workspace and a state folder of the test's own, gone with it. */
export function testWorkspace(servers?: Record<string, unknown>): TestWorkspace {
  const root = temporaryFolder('waygate-test-');
  const folder = join(root, 'workspace');
  const stateDir = join(root, 'state');
  mkdirSync(join(folder, '.vscode'), { recursive: true });
  const configFile = join(folder, '.vscode', 'waygate.json');
  const configDir = join(root, 'user');
  mkdirSync(configDir);
  const workspace: TestWorkspace = {
    folder,
    stateDir,
    configFile,
    userConfigFile: join(configDir, 'waygate.json'),
    env: {
      ...cleanEnvironment(),
      WAYGATE_STATE_DIR: stateDir,
      WAYGATE_CONFIG_DIR: configDir,
      WAYGATE_LINGER_MS: '1000',
    },
    // By `this`: a test may put the state of a copy elsewhere.
    configure(entries) {
      const text = JSON.stringify({ servers: entries }, null, 2);
      // First: a gateway that runs must not find a server that nobody has approved yet.
      approve(this, text);
      writeFileSync(configFile, text);
    },
    approve() {
      approve(this, readFileSync(configFile, 'utf8'));
    },
    write: (name, text) => {
      const file = join(folder, name);
      writeFileSync(file, text);
      return file;
    },
    gate: join(folder, 'go'),
    letGo() {
      writeFileSync(this.gate, '');
    },
  };
  if (servers) workspace.configure(servers);
  return workspace;
}

function approve({ configFile, folder, env, stateDir }: TestWorkspace, text: string): void {
  const enabled = parseConfig(text, configFile, folder, env).servers.filter(({ disabled }) => !disabled);
  if (enabled.length > 0)
    approvalsOf(stateDir).approve(
      folder,
      enabled.map((server) => approvable(server).hash),
    );
}

/** A worker that was called for an hour has kept five thousand artifacts, and the disk may have others to serve. */
const REMOVAL_MS = 120_000;

export function temporaryFolder(prefix: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }), REMOVAL_MS);
  return folder;
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(WAYGATE|VITEST|NODE_OPTIONS|SHELL$)/.test(name)),
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
  /** `test/fixtures/primitivesServer.mjs`: resources, templates, prompts. */
  primitives: (...flags: string[]) => ({
    command: process.execPath,
    args: [resolve('test/fixtures/primitivesServer.mjs'), ...flags],
  }),
  /** `test/fixtures/tasksServer.mjs`: tasks. */
  tasks: (...flags: string[]) => ({
    command: process.execPath,
    args: [resolve('test/fixtures/tasksServer.mjs'), ...flags],
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
