import type { Refreshed } from '../../control/activityContract.ts';
import { oneLine } from '../../text/porcelain.ts';
import { asSentence, count } from '../plainText.ts';

const MAX_NAMED = 4;
const NAME_CHARS = 40;

/** Describes what a refresh brought: `erp: 3 tools added, 1 changed.` */
export function refreshWords(news: readonly Refreshed[]): string {
  const parts = news.flatMap((one) => {
    const words = wordsOf(one);
    return words === '' ? [] : [`${oneLine(one.server, NAME_CHARS)}: ${words}`];
  });
  if (parts.length === 0) return `${count(news.length, 'server')} listed again, nothing changed.`;
  const more = parts.length - MAX_NAMED;
  return `${parts.slice(0, MAX_NAMED).join(' ')}${more > 0 ? ` ${count(more, 'more server')} changed.` : ''}`;
}

function wordsOf({ added, removed, changed, reason }: Refreshed): string {
  const parts = [
    ...(added > 0 ? [`${count(added, 'tool')} added`] : []),
    ...(removed > 0 ? [`${added > 0 ? removed : count(removed, 'tool')} removed`] : []),
    ...(changed > 0 ? [`${added + removed > 0 ? changed : count(changed, 'tool')} changed`] : []),
  ];
  if (parts.length > 0) return `${parts.join(', ')}.`;
  return reason === undefined ? '' : asSentence(reason);
}
