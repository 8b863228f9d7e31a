import { isRecord } from '../../../lib/isRecord.ts';
import { visibleText } from '../../../text/visibleText.ts';

const MAX_CHARS = 320;
const TAG = /<(\/?)(mark|em|strong|b)>/g;
/** Longest tag that closes a highlight. */
const RESERVED = '</strong>'.length;

/** Returns the matching part of a hit as prose with balanced highlight tags (R4.5). */
export function snippetOf(given: unknown, query: string): string | undefined {
  const text = isRecord(given) ? given.text : given;
  if (typeof text !== 'string' || text.trim() === '') return undefined;
  return balanced(withTags(visibleText(text), query));
}

/** Replaces punctuation around a word of the query, with which some engines mark a match. */
function withTags(text: string, query: string): string {
  if (/<mark>/.test(text)) return text;
  const words = query.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.reduce((shown, word) => {
    const marked = new RegExp(
      `(?:\\[{1,2}|\\*\\*|__|>{2,3}|\\{\\{|«|⟦)(${word}[\\p{L}\\p{N}]*)(?:\\]{1,2}|\\*\\*|__|<{2,3}|\\}\\}|»|⟧)`,
      'giu',
    );
    return shown.replace(marked, '<mark>$1</mark>');
  }, text);
}

/** Cuts a text to the limit, drops a tag that opens or closes nothing, and closes what is open at the end. */
function balanced(text: string): string {
  const isCut = text.length > MAX_CHARS;
  const kept = isCut ? text.slice(0, MAX_CHARS - RESERVED - 1).replace(/(?:[\ud800-\udbff]|<\/?\w*)$/, '') : text;
  let open: string | undefined;
  const paired = kept.replace(TAG, (tag, closes: string, name: string) => {
    if (closes === '') {
      if (open !== undefined) return '';
      open = name;
      return tag;
    }
    if (open !== name) return '';
    open = undefined;
    return tag;
  });
  const end = `${isCut ? '…' : ''}${open === undefined ? '' : `</${open}>`}`;
  const whole = paired + end;
  // An open tag at the very end of a text within the limit may push it over.
  return whole.length <= MAX_CHARS ? whole : paired.replace(TAG, '').slice(0, MAX_CHARS);
}
