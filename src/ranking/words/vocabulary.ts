import { readdirSync, readFileSync } from 'node:fs';
import { type CompiledThesaurus, compileThesaurus, type Thesaurus } from './thesaurus.ts';
import { readThesaurus } from './thesaurusText.ts';

/** Path of the compiled vocabulary beside the bundle; undefined when the code runs from source. */
declare const __WAYGATE_THESAURUS__: string | undefined;

let thesaurus: Thesaurus | undefined;

/** Returns the whole vocabulary, read on first use. */
export function wholeVocabulary(): Thesaurus {
  thesaurus ??=
    typeof __WAYGATE_THESAURUS__ === 'string'
      ? readThesaurus(readFileSync(new URL(__WAYGATE_THESAURUS__, import.meta.url), 'utf8'))
      : compiledVocabulary();
  return thesaurus;
}

/** Compiles the files of `src/ranking/data/`, whose README describes the format. */
export function compiledVocabulary(): CompiledThesaurus {
  const folder = new URL('../data/', import.meta.url);
  // Sorted by code units, because the order must be the same in every locale.
  const files = readdirSync(folder)
    .filter((name) => name.endsWith('.txt'))
    .sort();
  return compileThesaurus(files.map((name) => readFileSync(new URL(name, folder), 'utf8')));
}
