import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import { canonicalJson } from '../catalog/canonicalJson.ts';
import { sha256 } from '../catalog/shapeHash.ts';
import { stateRoot } from '../config/state/stateFolder.ts';
import type { TrustDecision, TrustItem, TrustReview } from '../control/trustContract.ts';
import { didYouMean } from '../text/nearest.ts';
import { count, oneLine } from '../text/porcelain.ts';
import { visibleText } from '../text/visibleText.ts';
import { sealOf } from '../trust/approvals.ts';
import type { TrustCommand } from './commands.ts';
import { print } from './print.ts';
import type { Terminal } from './terminal.ts';

const MAX_NAME_CHARS = 200;
const SHORT_PIN_CHARS = 8;
const CONTEXT_LINES = 3;

/** Items that a command line names. */
export interface Chosen {
  review: TrustReview;
  subject: string;
  isServer: boolean;
  /** Keys of the named items, approved ones included. */
  keys: readonly string[];
  /** Items that are not approved as they are now. */
  items: readonly TrustItem[];
}

/** Finds a server by its name, a tool by its id, and any item by server and key. */
export function chosenIn(reviews: readonly TrustReview[], subject: string): Chosen {
  for (const review of reviews) {
    const { server, approved, items } = review;
    const all = [...approved, ...items];
    const isServer = server === subject;
    const isMeant = ({ key, toolId }: (typeof all)[number]): boolean =>
      isServer || toolId === subject || `${server} ${key}` === subject;
    const keys = all.filter(isMeant).map(({ key }) => key);
    if (isServer || keys.length > 0) return { review, subject, isServer, keys, items: items.filter(isMeant) };
  }
  const known = reviews.flatMap(({ server, approved, items }) => [
    server,
    ...[...approved, ...items].flatMap(({ toolId }) => toolId ?? []),
  ]);
  const remedy = didYouMean(subject, known, 'see waygate trust.');
  throw new Error(`there is no server or tool "${shownText(subject)}"; ${visibleText(remedy)}`);
}

/** Renders a name of a server's choice in one line. */
export function shownText(text: string): string {
  return oneLine(visibleText(text), MAX_NAME_CHARS);
}

/** Renders name, state and kind of change of an item. */
export function stateWords(item: TrustItem, { server }: Pick<TrustReview, 'server'>): string {
  const { toolId, key, state, kinds, movedFrom, held } = item;
  const name = shownText(toolId ?? `${server} ${key}`);
  const moved = movedFrom === undefined ? '' : `, moved from ${shownText(movedFrom)}`;
  const kind = kinds.length === 0 ? '' : `, ${kinds.join(', ')}`;
  return `${state.padEnd(7)}  ${name}${kind}${moved}${held ? ', held back' : ''}`;
}

/** Renders the difference of an item as `diff -u` does. */
export function patchOf(
  { before = '', after = '' }: Pick<TrustItem, 'before' | 'after'>,
  from: string,
  to: string,
): string {
  if (before === after) return '';
  return createTwoFilesPatch(
    before === '' ? '/dev/null' : from,
    after === '' ? '/dev/null' : to,
    before,
    after,
    '',
    '',
    {
      context: CONTEXT_LINES,
      headerOptions: FILE_HEADERS_ONLY,
    },
  );
}

/** Text of the chosen items, and the pin that accepts exactly this. */
interface Shown {
  text: string;
  pin: string;
  acceptable: readonly (TrustItem & { pin: string })[];
}

function shownOf({ review, subject, isServer, items }: Chosen): Shown {
  const text = items
    .map((item) => {
      const notes = item.notes.map((note) => `  ${shownText(note)}\n`).join('');
      return `${stateWords(item, review)}\n${notes}${patchOf(item, 'approved', 'listed now')}`;
    })
    .join('\n');
  // Accepting a server does not undo what the user blocked by name.
  const acceptable = items.filter(
    (item): item is TrustItem & { pin: string } => item.pin !== undefined && !(isServer && item.state === 'blocked'),
  );
  const pins = acceptable.map(({ key, pin }) => [key, pin]);
  return {
    text,
    acceptable,
    pin: sealOf(stateRoot(), canonicalJson(['review', review.server, subject, pins, text])),
  };
}

export function shownDiff(chosen: Chosen, json: boolean): number {
  const { review, subject, items } = chosen;
  const { text, pin, acceptable } = shownOf(chosen);
  const next =
    acceptable.length === 0
      ? `${items.length === 0 ? `${shownText(subject)} is as you approved it.` : 'Nothing of it can be accepted.'}\n`
      : `\nAccept ${count(acceptable.length, 'item')} as shown: waygate trust accept ${quotedWords(subject)} --pin ${pin.slice(0, SHORT_PIN_CHARS)}\n`;
  const data = items.map((item) => {
    const { pin: hash, ...rest } = item;
    return { ...rest, ...(hash !== undefined && { sha256: hash }), diff: patchOf(item, 'approved', 'listed now') };
  });
  const { server } = review;
  print(json, { server, subject, ...(acceptable.length > 0 && { pin }), items: data }, `${text}${next}`);
  return 0;
}

/** Accepts what the user has seen: by its pin, or shown here and confirmed. */
export async function acceptShown(
  { pin, json }: TrustCommand,
  chosen: Chosen,
  decide: (decision: TrustDecision) => Promise<void>,
  { out, interactive, confirm }: Terminal,
): Promise<number> {
  const { review, subject } = chosen;
  const { server } = review;
  const shown = shownOf(chosen);
  const diff = `waygate trust diff ${quotedWords(subject)}`;
  if (shown.acceptable.length === 0) {
    print(json, { action: 'accept', server, accepted: [] }, `${shownText(subject)} has nothing to accept.\n`);
    return 0;
  }
  if (pin !== undefined) {
    if (!shown.pin.startsWith(pin)) {
      throw new Error(
        `this pin does not belong to what ${shownText(subject)} is now, so nothing was accepted; see ${diff}`,
      );
    }
  } else if (!interactive || json) {
    throw new Error(
      `nobody can be asked here, so nothing was accepted; read it with ${diff} and accept it with --pin.`,
    );
  } else {
    out(shown.text);
    if (!(await confirm(`Accept ${count(shown.acceptable.length, 'item')} as shown?`, false))) return 1;
  }
  const accepted = shown.acceptable.map(({ key, pin: one }) => ({ key, pin: one }));
  await decide({ action: 'accept', server, shown: accepted, lines: sha256(shown.text) });
  const still =
    review.quarantine === undefined ? '' : ` It is in quarantine until waygate trust release ${shownText(server)}.`;
  const data = { action: 'accept', server, accepted: accepted.map(({ key, pin: hash }) => ({ key, sha256: hash })) };
  print(json, data, `Accepted ${count(accepted.length, 'item')} of ${shownText(server)}.${still}\n`);
  return 0;
}

function quotedWords(subject: string): string {
  return /^[\w.:@/-]+$/.test(subject) ? subject : `'${shownText(subject)}'`;
}
