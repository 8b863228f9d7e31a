import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

/** Folders of test/ that run elsewhere: the suite inside VS Code, measurements, downloads, and what takes an hour. */
const ELSEWHERE = ['test/editor/**', 'test/bench/**', 'test/clients/**', 'test/soak/**'];

/** Stages of their own, which start whole gateways. */
const GATEWAY_STAGES = ['integration', 'conformance', 'hardening'];

/** Rooms whose tests compute and hardly start a process. */
const PURE = [
  'test/*.test.ts',
  // The others measure the CPU of all threads, or start a gateway.
  'test/calls/!(hostileSchemas|realServer|shipped).test.ts',
  'test/{catalog,control,docs,errors,extension,import,lib,link,mcp,modes,ranking,replay}/**/*.test.ts',
  'test/{records,results,secrets,supervision,telemetry,text,trust}/**/*.test.ts',
  'test/webview/render.test.ts',
];

const { version: VERSION } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

const beside = (file: string): string => JSON.stringify(pathToFileURL(resolve('dist', file)).href);

const common = {
  // For a busy machine, as the limit of `until`: a test of speed has a limit of its own.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // No test depends on a module's fresh state, and a process for each file costs as much as most files do.
  isolate: false,
  // V8 aborts now and then where threads come and go and the processor protects pages by keys (nodejs/node#64500).
  execArgv: ['--no-memory-protection-keys'],
  setupFiles: 'test/support/ownHome.ts',
} satisfies TestProjectInlineConfiguration['test'];

export default defineConfig({
  test: {
    globalSetup: ['test/support/homes.ts', 'test/support/globalSetup.ts'],
    // Two on two cores; scripts/test.mjs gives more to stages that wait for processes.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      { test: { ...common, name: 'pure', include: PURE, pool: 'forks' } },
      {
        test: {
          ...common,
          name: 'processes',
          include: ['test/**/*.test.ts'],
          exclude: [...PURE, ...ELSEWHERE, ...GATEWAY_STAGES.map((stage) => `test/${stage}/**`)],
          pool: 'forks',
        },
      },
      { test: { ...common, name: 'window', include: ['test/editor/window/**/*.test.ts'], pool: 'forks' } },
      // Takes pictures, and no part of `npm test`.
      {
        test: {
          ...common,
          testTimeout: 600_000,
          hookTimeout: 300_000,
          name: 'gallery',
          include: ['test/editor/gallery/**/*.test.ts'],
          pool: 'forks',
        },
      },
      // Downloads clients, and no part of `npm test`.
      { test: { ...common, name: 'clients', include: ['test/clients/**/*.test.ts'], pool: 'forks' } },
      { test: { ...common, name: 'agent', include: ['test/editor/agent/**/*.test.ts'], pool: 'forks' } },
      ...GATEWAY_STAGES.map((name) => ({
        // A gateway in the test's own process reads the data that ships beside the worker.
        define: {
          // No command that the test runs takes it for an older build, which it would replace.
          __WAYGATE_VERSION__: JSON.stringify(VERSION),
          __WAYGATE_BUILD__: JSON.stringify(`${VERSION}+20980101000000`),
          __WAYGATE_RANKS__: beside('cl100k_base.bin'),
          __WAYGATE_THESAURUS__: beside('thesaurus.txt'),
        },
        test: { ...common, name, include: [`test/${name}/**/*.test.ts`], pool: 'forks' as const },
      })),
    ],
  },
});
