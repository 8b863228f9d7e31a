import { digest } from '../../results/digest/digest.ts';
import { scrubSecretChunks } from '../../secrets/mask.ts';
import { LongText } from '../../text/longText.ts';
import { count, oneLine } from '../../text/porcelain.ts';
import { visibleText } from '../../text/visibleText.ts';
import type { Session, SessionItem } from './sessionFile.ts';

/** Length up to which a text is shown whole, as in the answer of a tool. */
const WHOLE_CHARS = 2_000;
/** Room for the digest of a longer one. */
const DIGEST_CHARS = 1_500;
/** Lines that are named of those that could not be read. */
const NAMED_LINES = 10;

/** Renders a session as Markdown: a heading for each item with a link to its parent, long texts as digests (M8.2). */
export async function renderConversation(session: Session): Promise<string> {
  const known = byId(session.items);
  const parts = await Promise.all(session.items.map((item) => renderItem(item, known)));
  return [...skippedLines(session), ...parts].join('\n');
}

/** Returns the items by their ids; of two with one id, the first. */
export function byId(items: readonly SessionItem[]): Map<string, SessionItem> {
  return new Map(items.toReversed().map((item) => [item.id, item]));
}

/** Yields the whole text of an item without secrets. */
export function maskedChunks({ text }: Pick<SessionItem, 'text'>): Iterable<string> {
  return scrubSecretChunks(text.chunks());
}

/** Renders one item. Secrets are masked before anything is cut, and a shorter digest suits a small budget. */
export async function renderItem(
  { id, type, text, parentId }: SessionItem,
  known: ReadonlyMap<string, SessionItem>,
  room = { whole: WHOLE_CHARS, digest: DIGEST_CHARS },
): Promise<string> {
  const masked = new LongText([...maskedChunks({ text })], '');
  const heading = `### ${name(type)} ${name(id)}${parentId === undefined ? '' : ` ← ${parentOf(parentId, known)}`}`;
  if (masked.length <= room.whole) return `${heading}\n\n${block(masked.toString())}\n`;
  const { title, body } = await digest(masked, room.digest);
  return `${heading}\n\n${oneLine(title)}\n\n${block(body)}\n`;
}

function skippedLines({ skipped }: Session): string[] {
  if (skipped.length === 0) return [];
  const named = skipped.slice(0, NAMED_LINES).join(', ');
  const more = skipped.length > NAMED_LINES ? ' …' : '';
  return [`${count(skipped.length, 'line')} skipped, because they are no items of a session: ${named}${more}\n`];
}

function parentOf(id: string, known: ReadonlyMap<string, SessionItem>): string {
  const parent = known.get(id);
  return parent ? `[${name(id)}](#${slug(`${parent.type} ${id}`)})` : `${name(id)} (missing)`;
}

/** Address of a heading, as Markdown previews make it. */
const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/\s+/g, '-')
    .replace(/[^\p{L}\p{N}_-]/gu, '');

/** Shows a word of the file so that it is neither a link nor markup. */
const name = (word: string): string => oneLine(word, 80).replace(/[\\`*{}[\]()<>#|!&~]/g, '\\$&');

/** Encloses text in a fence that is longer than every run of backticks in it. */
function block(text: string): string {
  const shown = visibleText(text);
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}text\n${shown}\n${fence}`;
}
