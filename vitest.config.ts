import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/editor/**', 'test/bench/**', 'test/soak/**'],
    globalSetup: 'test/support/globalSetup.ts',
    pool: 'forks',
    testTimeout: 30_000,
  },
});
