import { defineConfig } from 'vitest/config';

/**
 * What mutation testing runs again and again: the tests of the replay kernel, of its use for calls to servers, and of
 * redaction. They start no process and need no build.
 */
export default defineConfig({
  test: {
    include: [
      'test/ops/**/*.test.ts',
      'test/upstream/{serverCalls,judgeThrown,judgedWords,callers}.test.ts',
      'test/secrets/*.test.ts',
    ],
    runner: './test/support/mutationRunner.ts',
    pool: 'forks',
    testTimeout: 30_000,
  },
});
