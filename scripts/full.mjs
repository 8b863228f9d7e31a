// npm run test:full: npm test, then the tests that take too long for every push. Each prints the seed that repeats it:
// - 1,000 kills with ten calls in flight each (WAYGATE_KILLS; 40 in npm test)
// - 1,000 kills between a question and its answer (WAYGATE_ROUND_KILLS; 20 in npm test)
// - 10,000 random steps of servers, users and kills against the pins (WAYGATE_PIN_STEPS; 60 in npm test)
// - 1,000,000 spoilt frames (WAYGATE_FUZZ_FRAMES; 10,000 in npm test)
// - 21 edits of the configuration in 35 s under calls, one of them of 25 s (WAYGATE_EDITS, WAYGATE_EDIT_SECONDS,
//   WAYGATE_LONG_CALL_MS; 6 edits in 5 s in npm test)
// - a first start of 65 servers that compute for half a second each (WAYGATE_COLD_SERVERS, WAYGATE_COLD_MS; 20 with
//   0.1 s in npm test)
// - an hour of 50 calls a second with a kill every ten seconds (WAYGATE_SOAK_MINUTES; not in npm test)
// WAYGATE_SOAK_MINUTES=2 WAYGATE_KILLS=50 WAYGATE_FUZZ_FRAMES=50000 npm run test:full is a short trial.

import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const defaults = {
  WAYGATE_KILLS: '1000',
  WAYGATE_ROUND_KILLS: '1000',
  WAYGATE_PIN_STEPS: '10000',
  WAYGATE_FUZZ_FRAMES: '1000000',
  WAYGATE_EDITS: '21',
  WAYGATE_EDIT_SECONDS: '35',
  WAYGATE_LONG_CALL_MS: '25000',
  WAYGATE_COLD_SERVERS: '65',
  WAYGATE_COLD_MS: '500',
  WAYGATE_SOAK_MINUTES: '60',
};

const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
/** The suite runs with the counts of every push. */
const full = { ...defaults, ...process.env };

/** @type {readonly { name: string, args: readonly string[], env: NodeJS.ProcessEnv }[]} */
const PARTS = [
  { name: 'suite', args: [join(root, 'scripts', 'test.mjs')], env: process.env },
  { name: 'kills', args: [vitest, 'run', 'test/hardening/killHistory.test.ts'], env: full },
  { name: 'rounds', args: [vitest, 'run', 'test/hardening/roundKills.test.ts'], env: full },
  { name: 'pins', args: [vitest, 'run', 'test/hardening/pinHistory.test.ts'], env: full },
  { name: 'frames', args: [vitest, 'run', 'test/hardening/frameFuzz.test.ts'], env: full },
  { name: 'edits', args: [vitest, 'run', 'test/hardening/configEdits.test.ts'], env: full },
  { name: 'cold start', args: [vitest, 'run', 'test/hardening/coldStart.test.ts'], env: full },
  { name: 'endurance', args: [vitest, 'run', '--config', 'vitest.soak.config.ts'], env: full },
];

/** @type {string[]} */
const failed = [];
for (const { name, args, env } of PARTS) {
  console.log(`\n── ${name}`);
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env });
  if (status !== 0) failed.push(name);
}
console.log(failed.length === 0 ? '\nAll parts passed.' : `\nFailed: ${failed.join(', ')}.`);
process.exitCode = failed.length === 0 ? 0 : 1;
