import { readFileSync } from 'node:fs';
import { type CompiledThesaurus, compileThesaurus, type Thesaurus } from '../words/thesaurus.ts';
import { readThesaurus } from '../words/thesaurusText.ts';
import { CAPABILITIES } from './capabilities.ts';
import { DATA } from './data.ts';
import { DEVELOPMENT } from './development.ts';
import { FORMS } from './forms.ts';
import { IDIOMS } from './idioms.ts';
import { MONEY } from './money.ts';
import { OPERATIONS } from './operations.ts';
import { PLATFORMS } from './platforms.ts';
import { PRODUCTS } from './products.ts';
import { TRADES } from './trades.ts';
import { VERBS } from './verbs.ts';
import { WORK } from './work.ts';
import { WORLD } from './world.ts';

/** Where the build has put the compiled vocabulary, beside the bundle; absent where code runs from source. */
declare const __WAYGATE_THESAURUS__: string | undefined;

let thesaurus: Thesaurus | undefined;

/** The whole vocabulary, read when it is first asked for. */
export function wholeVocabulary(): Thesaurus {
  thesaurus ??=
    typeof __WAYGATE_THESAURUS__ === 'string'
      ? readThesaurus(readFileSync(new URL(__WAYGATE_THESAURUS__, import.meta.url), 'utf8'))
      : compiledVocabulary();
  return thesaurus;
}

export function compiledVocabulary(): CompiledThesaurus {
  return compileThesaurus([
    VERBS,
    FORMS,
    DEVELOPMENT,
    OPERATIONS,
    DATA,
    WORK,
    MONEY,
    WORLD,
    IDIOMS,
    PRODUCTS,
    PLATFORMS,
    CAPABILITIES,
    TRADES,
  ]);
}
