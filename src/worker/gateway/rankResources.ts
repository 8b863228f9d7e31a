import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RankResources } from '../../ranking/rankIndex.ts';
import { writeLog } from '../process/workerLog.ts';

let resources: RankResources | undefined;

/** The word table that ships beside the bundles, with the index that the build has made of it; ranking works on words alone where it cannot be read. */
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
    writeLog(`The word table cannot be read, ranking goes without it: ${(error as Error).message}`);
    return {};
  }
}
