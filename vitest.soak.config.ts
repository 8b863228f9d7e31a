import { defineConfig } from 'vitest/config';

/** Endurance test of an hour (`npm run test:full`). */
export default defineConfig({
  test: {
    include: ['test/soak/**/*.test.ts'],
    globalSetup: 'test/support/globalSetup.ts',
    pool: 'forks',
  },
});
