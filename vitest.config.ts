import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/editor/**', 'test/bench/**', 'test/soak/**'],
    globalSetup: ['test/support/homes.ts', 'test/support/globalSetup.ts'],
    setupFiles: 'test/support/ownHome.ts',
    pool: 'forks',
    // Two on two cores: most of these wait for processes more than they compute.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // For a machine that is busy, as those of `until`: what is to be quick says so by itself.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
