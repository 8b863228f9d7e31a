import { readFileSync } from 'node:fs';
import type { RankResources } from '../../ranking/rankIndex.ts';
import { writeLog } from '../process/workerLog.ts';

/** Path of the word table's index beside the bundle. */
declare const __WAYGATE_WORDS__: string;

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
    const index = new URL(__WAYGATE_WORDS__, import.meta.url);
    return { wordTable: readFileSync(new URL('../media/words-48.bin', index)), wordIndex: readFileSync(index) };
  } catch (error) {
    writeLog(`The word table cannot be read; ranking continues without it: ${(error as Error).message}`);
    return {};
  }
}
