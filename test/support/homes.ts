import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheFolder } from '../../scripts/lib/cache.mjs';

/** Folder of one test run, with one home per test file. */
export const HOMES = 'WAYGATE_TEST_HOMES';

/** Variables that let Waygate, or a program that it imports from, find its files outside the home folder. */
const ELSEWHERE = [
  ...['XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME'],
  ...['CODEX_HOME', 'CLAUDE_CONFIG_DIR', 'COPILOT_HOME'],
  ...['WAYGATE_CONFIG_DIR', 'WAYGATE_STATE_DIR'],
];

/** Makes `home` the home folder of this process and of its children. */
export function moveHome(home: string): void {
  for (const name of ELSEWHERE) delete process.env[name];
  process.env.HOME = home;
  process.env.USERPROFILE = home;
  process.env.APPDATA = join(home, 'AppData', 'Roaming');
  process.env.LOCALAPPDATA = join(home, 'AppData', 'Local');
}

/** Moves vitest's own process too: `homedir()` in a worker thread reads that process's environment. */
export function setup(): () => void {
  process.env.WAYGATE_CACHE = cacheFolder();
  const homes = realpathSync(mkdtempSync(join(tmpdir(), 'wg-homes-')));
  process.env[HOMES] = homes;
  moveHome(homes);
  return () => rmSync(homes, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}
