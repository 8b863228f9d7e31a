import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { KeptTexts } from '../../config/configLayers.ts';
import { readPrivateJson, writePrivateJson } from '../../config/state/privateFile.ts';

/**
 * What a gateway last had in force, by file: a worker that comes after one that was killed has it from here, where the
 * file has been broken meanwhile. There may be secrets in it, as in the file itself.
 */
export class LastGood {
  readonly #file: string;

  constructor(stateFolder: string) {
    this.#file = join(stateFolder, 'lastGood.json');
  }

  get texts(): KeptTexts {
    const read = readPrivateJson(this.#file);
    if (typeof read !== 'object' || read === null) return {};
    const kept = Object.entries(read).filter(([, one]) => typeof one === 'object' && one !== null);
    return Object.fromEntries(
      kept.map(([file, { whole, calls }]) => [file, { ...text({ whole }), ...text({ calls }) }]),
    );
  }

  /** A full disk costs what is kept for a day that may never come, and nothing else. */
  keep(texts: KeptTexts): void {
    try {
      if (Object.keys(texts).length > 0) writePrivateJson(this.#file, texts);
      else rmSync(this.#file, { force: true });
    } catch {
      // The next worker that is given anything keeps it.
    }
  }
}

function text(member: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(member).filter((one): one is [string, string] => typeof one[1] === 'string'),
  );
}
