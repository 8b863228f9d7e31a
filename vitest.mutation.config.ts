import { defineConfig } from 'vitest/config';

/** What mutation testing runs again and again: the tests of the replay kernel and of redaction, which need no build. */
export default defineConfig({
  test: {
    include: ['test/ops/**/*.test.ts', 'test/firewall/secrets.test.ts', 'test/firewall/properties.test.ts'],
    runner: './test/support/mutationRunner.ts',
    pool: 'forks',
    testTimeout: 30_000,
  },
});
