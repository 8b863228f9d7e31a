import { compileThesaurus, type Thesaurus } from '../thesaurus.ts';
import { CAPABILITIES } from './capabilities.ts';
import { DATA } from './data.ts';
import { DEVELOPMENT } from './development.ts';
import { FORMS } from './forms.ts';
import { IDIOMS } from './idioms.ts';
import { OPERATIONS } from './operations.ts';
import { PLATFORMS } from './platforms.ts';
import { PRODUCTS } from './products.ts';
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
    WORLD,
    IDIOMS,
    PRODUCTS,
    PLATFORMS,
    CAPABILITIES,
  ]);
  return compiled;
}
