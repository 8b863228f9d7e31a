import type { HeldTool, ServerBrief } from '../../control/contract.ts';
import { oneLine } from '../../text/porcelain.ts';
import { type NotificationText, notificationText } from '../notificationText.ts';

/** Words for the states of held items, in the order of a row. */
const STATE_WORDS: Readonly<Record<string, string>> = {
  changed: 'changed',
  new: 'new',
  flagged: 'suspicious',
  blocked: 'blocked',
  damaged: 'not pinned',
  unsaved: 'not pinned',
  quarantined: 'quarantined',
};

const STATE_ICONS: Readonly<Record<string, string>> = {
  changed: 'diff-modified',
  new: 'diff-added',
  blocked: 'circle-slash',
  quarantined: 'lock',
};

const PART_WORDS: Readonly<Record<string, string>> = {
  prompts: 'prompt ',
  resourceTemplates: 'template ',
  instructions: 'instructions',
};

export function isQuarantined({ held = [] }: Pick<ServerBrief, 'held'>): boolean {
  return held.some(({ why }) => why === 'quarantined');
}

/** Reports whether a server has items about which the user has not decided. */
export function waitsForReview({ held = [] }: Pick<ServerBrief, 'held'>): boolean {
  return held.some(({ why }) => why !== 'blocked');
}

/** Describes held items in a few words: `2 changed, 1 new`, or `quarantined`. */
export function heldWords(held: readonly HeldTool[]): string {
  if (isQuarantined({ held })) return 'quarantined';
  const words = [...new Set(Object.values(STATE_WORDS))].map((state) => ({
    state,
    amount: held.filter(({ why }) => stateWord(why) === state).length,
  }));
  return words.flatMap(({ state, amount }) => (amount > 0 ? `${amount} ${state}` : [])).join(', ');
}

/** Describes the servers that wait for a review and are not in `offered`, and adds them to it. */
export function reviewNews(
  servers: readonly Pick<ServerBrief, 'name' | 'state' | 'held'>[],
  offered: Set<string>,
): NotificationText | undefined {
  // A server that starts may be listed before its first list is pinned.
  const news = servers.filter(
    (server) => server.state !== 'starting' && waitsForReview(server) && !offered.has(server.name),
  );
  if (news.length === 0) return undefined;
  for (const { name } of news) offered.add(name);
  const names = news.map(({ name, held = [] }) => `${oneLine(name, 60)} (${heldWords(held)})`).join(', ');
  const isDamaged = news.some(({ held = [] }) => held.some(({ why }) => why === 'damaged'));
  return isDamaged
    ? notificationText`The record of what you approved is damaged, so no server offers anything before your review: ${names}.`
    : notificationText`Servers list what you have not approved: ${names}. No model sees it before your review.`;
}

/** Names an item with its part: `create_issue`, `prompt greet`, `instructions`. */
export function itemName({ part, name }: Pick<HeldTool, 'part' | 'name'>): string {
  return `${PART_WORDS[part] ?? ''}${part === 'instructions' ? '' : oneLine(name, 60)}`;
}

/** Labels a row or a choice with the state of its item. */
export function heldLabel(item: Pick<HeldTool, 'part' | 'name' | 'why'>): NotificationText {
  return notificationText`${stateWord(item.why)}: ${itemName(item)}`;
}

export function heldIcon(why: string): { id: string; color: string } {
  return { id: STATE_ICONS[why] ?? 'warning', color: 'list.warningForeground' };
}

function stateWord(why: string): string {
  return STATE_WORDS[why] ?? why;
}
