import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { configPlaces } from '../config/state/configPlaces.ts';
import { ensureWorkspaceState, stateRoot } from '../config/state/stateFolder.ts';
import { gatewayFolder, stateVariant } from '../host/attach/startWorker.ts';
import type { KeptIntroduction } from '../host/modern/modernOptions.ts';
import { isRecord, parseRecord } from '../lib/isRecord.ts';
import { MAX_CONFIG_BYTES, readBoundedText } from '../lib/readBounded.ts';
import { writeWhole } from '../lib/writeWhole.ts';
import type { ServeOptions } from './commands.ts';

const FILE = 'introduction.json';
const MAX_BYTES = 256 * 1024;

/**
 * Last introduction of the servers in passthrough mode, so that `server/discover` needs no worker. Counts for the
 * configuration with which it was made.
 */
export function keptIntroduction(target: ServeOptions): KeptIntroduction {
  return {
    read: () => {
      const kept = parseRecord(textOf(join(gatewayFolder(target), FILE), MAX_BYTES));
      if (kept?.configuration !== configurationOf(target) || !isRecord(kept.capabilities)) return undefined;
      const { capabilities, instructions } = kept;
      return { capabilities, ...(typeof instructions === 'string' ? { instructions } : {}) };
    },
    write: ({ capabilities, instructions }) => {
      const folder = ensureWorkspaceState(target.workspace, stateRoot(), stateVariant(target));
      const kept = { configuration: configurationOf(target), capabilities, instructions };
      writeWhole(join(folder, FILE), JSON.stringify(kept), { mode: 0o600 });
    },
  };
}

function configurationOf({ workspace, configFile }: ServeOptions): string {
  const hash = createHash('sha256');
  for (const { file } of configPlaces(workspace, process.env, configFile)) hash.update(textOf(file, MAX_CONFIG_BYTES));
  return hash.digest('base64url');
}

function textOf(file: string, maxBytes: number): string {
  try {
    return readBoundedText(file, { maxBytes });
  } catch {
    return '';
  }
}
