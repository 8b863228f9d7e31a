import { compileThesaurus, type Thesaurus } from '../thesaurus.ts';
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

let compiled: Thesaurus | undefined;

/** The whole vocabulary, compiled when it is first asked for. */
export function wholeVocabulary(): Thesaurus {
  compiled ??= compileThesaurus([
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
  return compiled;
}
