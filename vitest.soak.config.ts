import { defineConfig } from 'vitest/config';

/** Endurance test of an hour (`npm run test:full`). */
export default defineConfig({
  test: {
    include: ['test/soak/**/*.test.ts'],
    globalSetup: ['test/support/homes.ts', 'test/support/globalSetup.ts'],
    setupFiles: 'test/support/ownHome.ts',
    pool: 'forks',
  },
});
