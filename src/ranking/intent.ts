import type { CatalogTool } from '../catalog/types.ts';
import { analyzeWord, eachRawWord } from './words/text.ts';

/** Reading or writing: the intent of a query, or the effect of a tool. */
export type Intent = 'read' | 'write' | 'unknown';

/** Intents by their code in the index, which uses one byte per tool. */
export const INTENT_CODES: readonly Intent[] = ['unknown', 'read', 'write'];

const READ_VERBS = new Set(
  (
    'get list show find search read view fetch retrieve lookup look see check describe inspect query count browse display ' +
    'tell explain summarize analyze compare monitor watch verify validate test preview scan audit explore discover identify ' +
    'which what who whose where when whether how is are was were did does do has have any diagnose review calculate compute ' +
    'resolve extract download export trace measure'
  ).split(' '),
);

const WRITE_VERBS = new Set(
  (
    'create add make new insert update edit change modify set delete remove drop destroy erase clear purge wipe rename move ' +
    'copy clone duplicate send post publish upload push write save store put submit assign unassign invite approve reject ' +
    'merge close open reopen start stop restart pause resume cancel enable disable deploy build install uninstall run execute ' +
    'schedule archive restore revert rollback attach detach link unlink connect disconnect register trigger rotate revoke ' +
    'grant share import convert generate draw book reserve order pay refund charge subscribe unsubscribe mute block ban kick ' +
    'reply comment tag label mark complete finish resize scale upgrade migrate transfer replace apply commit click type fill ' +
    'press scroll drag hover turn switch toggle mute configure provision launch kill terminate forget insert append'
  ).split(' '),
);

function classOf(lower: string): Intent {
  if (READ_VERBS.has(lower)) return 'read';
  return WRITE_VERBS.has(lower) ? 'write' : 'unknown';
}

/** Returns the intent of the first verb; `read` words that open a question decide at once. */
export function queryIntent(words: readonly { lower: string }[]): Intent {
  for (const word of words) {
    const intent = classOf(word.lower);
    if (intent !== 'unknown') return intent;
  }
  return 'unknown';
}

/** Derives the intent from the server's hints: good enough for ordering, never trusted (M1.3). */
export function toolIntent(tool: CatalogTool): Intent {
  if (tool.annotations.readOnlyHint === true) return 'read';
  if (tool.annotations.destructiveHint === true || tool.annotations.readOnlyHint === false) return 'write';
  return (
    firstVerb(tool.upstreamName, Number.POSITIVE_INFINITY) ?? firstVerb(tool.description.slice(0, 80), 1) ?? 'unknown'
  );
}

function firstVerb(text: string, among: number): Intent | undefined {
  let found: Intent | undefined;
  let seen = 0;
  eachRawWord(text, (raw) => {
    if (found !== undefined || seen >= among) return;
    seen++;
    for (const lower of lowerParts(raw)) {
      const intent = classOf(lower.endsWith('s') ? lower.slice(0, -1) : lower);
      const exact = classOf(lower);
      const known = exact !== 'unknown' ? exact : intent;
      if (known !== 'unknown') {
        found = known;
        return;
      }
    }
  });
  return found;
}

function lowerParts(raw: string): readonly string[] {
  const word = analyzeWord(raw);
  return word.parts.length > 0 ? raw.split(/(?<=[a-z])(?=[A-Z])/).map((part) => part.toLowerCase()) : [word.lower];
}
