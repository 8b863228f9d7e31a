import type { HeldTool, ServerBrief } from '../../control/contract.ts';
import { oneLine } from '../../text/porcelain.ts';
import { t } from '../l10n.ts';
import { type NotificationText, notificationText } from '../notificationText.ts';

/** Words for the states of held items, and for a number of them, in the order of a row. */
const STATES: Readonly<Record<string, { words: string; some: (amount: number) => string }>> = {
  changed: { words: t`changed`, some: (amount) => t`${amount} changed` },
  new: { words: t`new`, some: (amount) => t`${amount} new` },
  flagged: { words: t`suspicious`, some: (amount) => t`${amount} suspicious` },
  blocked: { words: t`blocked`, some: (amount) => t`${amount} blocked` },
  damaged: { words: t`not pinned`, some: (amount) => t`${amount} not pinned` },
  quarantined: { words: t`quarantined`, some: (amount) => t`${amount} quarantined` },
};

const STATE_ICONS: Readonly<Record<string, string>> = {
  changed: 'diff-modified',
  new: 'diff-added',
  blocked: 'circle-slash',
  quarantined: 'lock',
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
  if (isQuarantined({ held })) return t`quarantined`;
  return Object.entries(STATES)
    .flatMap(([state, { some }]) => {
      const amount = held.filter(({ why }) => stateOf(why) === state).length;
      return amount > 0 ? some(amount) : [];
    })
    .join(', ');
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
  const short = oneLine(name, 60);
  switch (part) {
    case 'prompts':
      return t`prompt ${short}`;
    case 'resourceTemplates':
      return t`template ${short}`;
    case 'instructions':
      return t`instructions`;
    default:
      return short;
  }
}

/** Labels a row or a choice with the state of its item. */
export function heldLabel(item: Pick<HeldTool, 'part' | 'name' | 'why'>): NotificationText {
  return notificationText`${STATES[stateOf(item.why)]?.words ?? item.why}: ${itemName(item)}`;
}

export function heldIcon(why: string): { id: string; color: string } {
  return { id: STATE_ICONS[why] ?? 'warning', color: 'list.warningForeground' };
}

/** A pin that could not be saved counts as none, like a damaged one. */
function stateOf(why: string): string {
  return why === 'unsaved' ? 'damaged' : why;
}
