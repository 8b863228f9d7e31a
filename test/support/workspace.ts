import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { approveAll } from './approveAll.ts';
import { bundled } from './bundledFixtures.ts';
import { HOMES } from './homes.ts';
import { atEnd } from './lifetime.ts';

/** Compiled code of the programs that the tests of this run start, which takes a quarter from the time of a command. */
const COMPILED = process.env[HOMES] && join(process.env[HOMES], 'compiled');

/** Bundles under test. */
export const WAYGATE = resolve('dist/waygate.cjs');
export const WORKER = resolve('dist/worker.cjs');

export interface TestWorkspace {
  folder: string;
  stateDir: string;
  configFile: string;
  /** The user's own `waygate.json`, for every workspace. */
  userConfigFile: string;
  /**
   * Environment of all processes of the test: a separate state folder, a short linger, and nothing from the runner or
   * the user's shell.
   */
  env: NodeJS.ProcessEnv;
  /** The `waygate` of another build. */
  program?: string;
  /** Writes the configuration and approves its servers, as a user would. */
  configure(servers: Record<string, unknown>): void;
  /** Writes servers of the user's own, whose changes are only reported: for tests about lists that change. */
  configureChanging(servers: Record<string, object>, blocks?: object): void;
  /** Approves the current configuration, for a test that writes it differently. */
  approve(): void;
  write(name: string, text: string): string;
  /** File whose existence ends `wait` and `work` of the fixtures (`until`). */
  gate: string;
  /** Creates that file. */
  letGo(): void;
}

/** Creates a workspace and a state folder for the test, and removes them afterwards. */
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
      // A test means the same on a machine without walls; tests of walls ask for them.
      WAYGATE_WALLS: 'off',
      WAYGATE_LINGER_MS: '1000',
      // The first list of a test is complete, however busy the machine is.
      WAYGATE_LIST_MS: '60000',
      ...(COMPILED && { NODE_COMPILE_CACHE: COMPILED }),
    },
    // Uses `this`, because a test may move the state of a copy.
    configure(entries) {
      const text = JSON.stringify({ servers: entries }, null, 2);
      // Approve first: a running gateway must not find an unapproved server.
      approve(this, text);
      writeFileSync(configFile, text);
    },
    configureChanging(entries, blocks) {
      const own = Object.entries(entries).map(([name, entry]) => [name, { ...entry, trust: 'tell' }]);
      writeFileSync(this.userConfigFile, JSON.stringify({ ...blocks, servers: Object.fromEntries(own) }));
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
  approveAll(folder, stateDir, configFile, text, env);
}

/** Time to remove a state folder: after an hour it has five thousand artifacts, and the disk may be busy. */
const REMOVAL_MS = 120_000;

export function temporaryFolder(prefix: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), prefix)));
  atEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }), REMOVAL_MS);
  return folder;
}

function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(WAYGATE|VITEST|NODE_OPTIONS|SHELL$)/.test(name)),
  );
}

/** Real servers from npm, and the fixtures of the tests. */
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
  /** Everything that the conformance suites need from a server. */
  conformance: {
    command: process.execPath,
    args: [bundled('conformanceServer.mjs')],
  },
  /** `test/fixtures/modernServer.mjs`: revision 2026-07-28. */
  modern: (...flags: string[]) => ({
    command: process.execPath,
    args: [bundled('modernServer.mjs'), ...flags],
  }),
  /** What the conformance suite of revision 2026-07-28 needs beyond that. */
  rounds: {
    command: process.execPath,
    args: [bundled('roundsServer.mjs')],
  },
  /** `test/fixtures/server.mjs` with its flags. */
  fixture: (...flags: string[]) => ({
    command: process.execPath,
    args: [resolve('test/fixtures/server.mjs'), ...flags],
  }),
};
