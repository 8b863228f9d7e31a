import { isRecord } from '../../../lib/isRecord.ts';
import { inBraces, inQuotes } from '../boundedText.ts';
import { filled, type Json } from '../values.ts';

/** Returns the handles of a page for its text (R3.5). A handle is never cut, because half of one is useless. */
export function handles(page: Json, count: string | undefined): string {
  const { has_more: hasMore, next_cursor: cursor, next_changes_since: changes } = page;
  const parts = [
    ...(typeof hasMore === 'boolean' ? [`has_more=${hasMore}.`] : []),
    ...(filled(cursor) === undefined ? [] : [`next_cursor=${inQuotes(cursor)}`]),
    ...(filled(changes) === undefined ? [] : [`next_changes_since=${inQuotes(changes)}`]),
    ...(count === undefined ? [] : [`count=${count}`]),
  ];
  return parts.length === 0 ? '' : ` ${parts.join(' ')}`;
}

/** Returns the count of an envelope as `kind:value`: an object for records, a number for a search. */
export function countOf({ meta }: Json): string | undefined {
  if (!isRecord(meta)) return undefined;
  const { count, count_accuracy: accuracy } = meta;
  if (typeof count === 'number') return `${inBraces(accuracy ?? 'exact')}:${count}`;
  if (!isRecord(count) || count.kind === undefined || count.kind === 'none') return undefined;
  return `${inBraces(count.kind)}:${inBraces(count.value)}`;
}
