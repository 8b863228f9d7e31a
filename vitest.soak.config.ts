import { defineConfig } from 'vitest/config';

/** What takes an hour (`npm run test:soak`). */
export default defineConfig({
  test: {
    include: ['test/soak/**/*.test.ts'],
    globalSetup: ['test/support/homes.ts', 'test/support/globalSetup.ts'],
    setupFiles: 'test/support/ownHome.ts',
    pool: 'forks',
  },
});
