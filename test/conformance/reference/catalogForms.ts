/** Forms of a catalog and its cards that the specification has for other programs. No mode of Waygate uses them. */
import type { ChoiceCard } from '../../../src/catalog/cards/card.ts';
import { type LineOptions, renderCardLine } from '../../../src/catalog/cards/cardText.ts';
import { compareCodePoints } from '../../../src/catalog/codePointOrder.ts';
import { sha256 } from '../../../src/catalog/shapeHash.ts';

/** Returns the hash with which other programs pin catalogs (G1.16). */
export function catalogHash(
  items: readonly { id: string; name: string; description: string; namespace: string; tags: readonly string[] }[],
): string {
  const lines = [...items]
    .sort((a, b) => compareCodePoints(a.id, b.id))
    .map(({ id, name, description, namespace, tags }) => {
      return `${id}|${name}|${description}|${namespace}|${[...tags].sort(compareCodePoints).join(',')}`;
    });
  return sha256(lines.join('\n'));
}

/** Orders by score, highest first, then by id. A missing score counts as 0 (G2.9). */
export function orderCards(cards: readonly ChoiceCard[]): ChoiceCard[] {
  return [...cards].sort((a, b) => (b.score ?? 0) - (a.score ?? 0) || compareCodePoints(a.id, b.id));
}

/** Renders all cards, one line each. */
export function renderCardLines(cards: readonly ChoiceCard[], options: LineOptions = {}): string {
  return cards.map((card, index) => renderCardLine(card, index + 1, cards.length, options)).join('\n');
}

/** Renders the block form: one card in full, for a person or a short prompt. */
export function renderCardBlock(card: ChoiceCard): string {
  const lines = [`[${card.id}] ${card.name}`];
  if (card.description !== '') lines.push(`  ${card.description}`);
  if (card.tags.length > 0) lines.push(`  tags: ${card.tags.join(', ')}`);
  if (card.safety === 'destructive') lines.push('  ⚠ destructive');
  else if (card.side_effects) lines.push('  ! has side effects');
  if (card.safety === 'read_only') lines.push('  read-only');
  if (card.cost_hint > 0) lines.push(`  cost: ${card.cost_hint.toFixed(2)}`);
  return lines.join('\n');
}
