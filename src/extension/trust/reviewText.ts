import type { ScannedEntry, ServerScan, TrustItem, TrustReview } from '../../control/trustContract.ts';
import { oneLine } from '../../text/porcelain.ts';
import { visibleText } from '../../text/visibleText.ts';
import { t } from '../l10n.ts';
import { type NotificationText, notificationText } from '../notificationText.ts';
import { describeFinding, findingsOf } from './findings.ts';
import { itemName } from './heldRows.ts';

/** Version of an item that a document shows. */
export interface ShownItem {
  server: string;
  key: string;
  pin: string;
}

/** `shown`: the document shows the item as it is. `again`: it has changed since. `settled`: nothing waits any more. */
export type ReviewState = 'shown' | 'again' | 'settled';

export type ReviewAction = 'accept' | 'block' | 'again' | 'release';

/** Document with buttons above its last line, which is empty. */
export interface ReviewDocument {
  text: string;
  actions: readonly ReviewAction[];
}

export const ACTION_TITLES: Readonly<Record<ReviewAction, string>> = {
  accept: t`Accept`,
  block: t`Block`,
  again: t`Review It Again`,
  release: t`Release from Quarantine`,
};

const SCANNED_PARTS: Readonly<Record<string, ScannedEntry['kind']>> = {
  tools: 'tool',
  prompts: 'prompt',
  resourceTemplates: 'template',
  instructions: 'instructions',
};

const NOTES: Readonly<Record<ReviewState, readonly string[]>> = {
  shown: [],
  again: ['', t`It has changed again since it was shown here. Review it again before you accept it.`],
  settled: ['', t`It no longer waits for your review in this form.`],
};

const ACTIONS_AFTER: Readonly<Record<Exclude<ReviewState, 'shown'>, readonly ReviewAction[]>> = {
  again: ['again'],
  settled: [],
};

/**
 * Returns the items that the user can decide about; an item that is gone cannot be called. If no pin of the server
 * counts, each item says why.
 */
export function reviewable({ items, problem }: TrustReview): (TrustItem & { pin: string })[] {
  return items.flatMap(({ pin, ...item }) => {
    if (pin === undefined || item.state === 'gone') return [];
    return { ...item, pin, notes: problem === undefined ? item.notes : [problem.replace(/\.$/, ''), ...item.notes] };
  });
}

/** Compares a document with the present review. */
export function reviewState({ key, pin }: ShownItem, review: TrustReview | undefined): ReviewState {
  const now = review && reviewable(review).find((item) => item.key === key);
  if (now === undefined) return 'settled';
  return now.pin === pin ? 'shown' : 'again';
}

/** Renders the pinned version of an item. */
export function approvedDocument({ before, state }: TrustItem): string {
  if (before === undefined && state === 'changed') return `${t`The approved text is not stored any more.`}\n`;
  return indented(before ?? '');
}

/** Renders the listed version of an item, below what the scan found in it. Buttons stand below the text that they accept. */
export function presentDocument(item: TrustItem, scan: ServerScan | undefined, state: ReviewState): ReviewDocument {
  const moved = item.movedFrom === undefined ? [] : [t`Same arguments as ${line(item.movedFrom)}, which is gone.`];
  const head = [...moved, ...item.notes.map((note) => t`Note: ${line(note)}.`), ...findingLines(item, scan)];
  const text = [
    ...head,
    ...(head.length > 0 ? [''] : []),
    indented(item.after ?? '').replace(/\n$/, ''),
    ...NOTES[state],
    '',
  ];
  if (state !== 'shown') return { text: text.join('\n'), actions: ACTIONS_AFTER[state] };
  return { text: text.join('\n'), actions: item.state === 'blocked' ? ['accept'] : ['accept', 'block'] };
}

/** Renders the place of a version that is not listed any more. */
export function forgottenDocument(state: Exclude<ReviewState, 'shown'>): ReviewDocument {
  return { text: [...NOTES[state].slice(1), ''].join('\n'), actions: ACTIONS_AFTER[state] };
}

/** Renders why a server is in quarantine. */
export function quarantineDocument(
  { server, quarantine, approved }: TrustReview,
  scan: ServerScan | undefined,
): ReviewDocument {
  const name = line(JSON.stringify(server));
  if (quarantine === undefined) return { text: `${t`The server ${name} is not in quarantine.`}\n`, actions: [] };
  const found = findingsOf(scan).map(({ about, quote }) => `  ${about}: "${quote}"`);
  const text = [
    t`The server ${name} is in quarantine: no model sees anything of it.`,
    t`Reason: ${line(quarantine)}`,
    ...(found.length > 0 ? ['', t`Findings of the scan:`, ...found] : []),
    '',
    t`A release offers what you approved before:`,
    ...approved.map(({ key, toolId }) => `  ${line(toolId ?? key)}`),
    '',
  ];
  return { text: text.join('\n'), actions: ['release'] };
}

function findingLines(item: TrustItem, scan: ServerScan | undefined): string[] {
  const entries = (scan?.entries ?? []).filter(
    ({ kind, name }) =>
      kind === SCANNED_PARTS[item.part] && (kind === 'instructions' || name === visibleText(item.name)),
  );
  return entries.flatMap(({ findings }) =>
    findings.map(describeFinding).map(({ about, quote }) => t`Finding: ${about}: "${quote}"`),
  );
}

/** Title of the comparison. */
export function reviewTitle(item: TrustItem): NotificationText {
  return notificationText`${itemName(item)}: approved ↔ now`;
}

/** Indents foreign text, so that none of its lines passes for a line of Waygate. */
function indented(text: string): string {
  return visibleText(text).replace(/^(?=.)/gm, '  ');
}

/** Longer than anything that a scan or a comparison quotes. */
const MAX_LINE = 1_000;

function line(text: string): string {
  return oneLine(text, MAX_LINE);
}
