import { defineConfig } from 'vitest/config';

/**
 * What mutation testing runs again and again: the tests of the replay kernel, of its use for calls to servers, and of
 * redaction. They start no process and need no build.
 */
export default defineConfig({
  test: {
    include: [
      'test/{errors,lib,mcp,replay,supervision,telemetry,text}/*.test.ts',
      'test/upstream/{serverCalls,serverCallWaits,judgeThrown,judgedWords,callers}.test.ts',
      'test/secrets/{mask,knownSecrets,scrubValue,shapes,clearSecrets}.test.ts',
    ],
    globalSetup: 'test/support/homes.ts',
    setupFiles: 'test/support/ownHome.ts',
    runner: './test/support/mutationRunner.ts',
    pool: 'forks',
    testTimeout: 30_000,
  },
});
