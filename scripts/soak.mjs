// npm run test:soak: the tests that take too long for every commit. A thousand kills, a million spoilt frames, edits of
// the configuration under load, and an hour of calls with a kill every ten seconds. Each prints the seed that repeats it.
// WAYGATE_SOAK_MINUTES=2 WAYGATE_KILLS=50 WAYGATE_FUZZ_FRAMES=50000 npm run test:soak is a short trial.

import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const defaults = {
  WAYGATE_KILLS: '1000',
  WAYGATE_FUZZ_FRAMES: '1000000',
  WAYGATE_EDITS: '21',
  WAYGATE_EDIT_SECONDS: '35',
  WAYGATE_LONG_CALL_MS: '25000',
  WAYGATE_SOAK_MINUTES: '60',
};

/** @type {readonly (readonly [string, readonly string[]])[]} */
const PARTS = [
  ['kills', ['test/hardening/killHistory.test.ts']],
  ['frames', ['test/hardening/frameFuzz.test.ts']],
  ['edits', ['test/hardening/configEdits.test.ts']],
  ['endurance', ['--config', 'vitest.soak.config.ts']],
];

let failed = 0;
for (const [name, args] of PARTS) {
  console.log(`\n── ${name}`);
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const { status } = spawnSync(process.execPath, [vitest, 'run', ...args], {
    cwd: root,
    stdio: 'inherit',
    env: { ...defaults, ...process.env },
  });
  if (status !== 0) failed += 1;
}
console.log(failed === 0 ? '\nAll parts passed.' : `\n${failed} of ${PARTS.length} parts failed.`);
process.exitCode = failed === 0 ? 0 : 1;
