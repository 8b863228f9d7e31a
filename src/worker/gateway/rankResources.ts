import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RankResources } from '../../ranking/rankIndex.ts';
import { writeLog } from '../process/workerLog.ts';

let resources: RankResources | undefined;

/**
 * Returns the word table that ships beside the bundles, with its index from the build. If they cannot be read, ranking
 * works on words alone.
 */
export function rankResources(): RankResources {
  resources ??= load();
  return resources;
}

function load(): RankResources {
  try {
    return {
      wordTable: readFileSync(join(__dirname, '..', 'media', 'words-48.bin')),
      wordIndex: readFileSync(join(__dirname, 'words-48.index.bin')),
    };
  } catch (error) {
    writeLog(`The word table cannot be read; ranking continues without it: ${(error as Error).message}`);
    return {};
  }
}
