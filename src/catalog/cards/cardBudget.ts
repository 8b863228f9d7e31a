import { CatalogError } from '../catalogError.ts';
import { countTokens, fitsTokens } from '../tokenizer/tokens.ts';
import type { ChoiceCard } from './card.ts';
import { type LineOptions, renderCardLine } from './cardText.ts';
import { truncateToTokens } from './truncate.ts';

/** Token bounds of 000 §2.3. */
export const CARD_TARGET_TOKENS = 60;
export const CARD_CAP_TOKENS = 80;
export const RESPONSE_PREAMBLE_TOKENS = 32;

/** What a whole answer of n cards may cost at most (000 §2.3). */
export function responseCapTokens(cards: number): number {
  return CARD_CAP_TOKENS * cards + RESPONSE_PREAMBLE_TOKENS;
}

/**
 * The card with its description cut so that its line meets the target. Nothing but the description is ever cut; when
 * the rest alone is over the hard cap, that is an error (000 §2.3).
 */
export function fitCard(card: ChoiceCard, options: LineOptions = {}): ChoiceCard {
  const line = (description: string): string => renderCardLine({ ...card, description }, 1, 1, options);
  if (fitsTokens(line(card.description), CARD_TARGET_TOKENS)) return card;
  const left = Math.max(CARD_TARGET_TOKENS - countTokens(line('')), 1);
  const description = truncateToTokens(card.description, left);
  if (!fitsTokens(line(description), CARD_CAP_TOKENS)) {
    throw new CatalogError(
      'card_over_cap',
      `The card of "${card.id.slice(0, 80)}…" needs more than ${CARD_CAP_TOKENS} tokens even without a description.`,
    );
  }
  return { ...card, description };
}

/** Cards that could be made, and what could not: one card over the cap never costs the answer. */
export interface BudgetedCards {
  cards: ChoiceCard[];
  omitted: { id: string; reason: string }[];
}

/** Makes each card by itself, so that one that throws `CatalogError` is set aside with its reason. */
export function cardsWithinBudget<T extends { id: string }>(
  items: readonly T[],
  makeCard: (item: T) => ChoiceCard,
): BudgetedCards {
  const result: BudgetedCards = { cards: [], omitted: [] };
  for (const item of items) {
    try {
      result.cards.push(makeCard(item));
    } catch (error) {
      if (!(error instanceof CatalogError)) throw error;
      result.omitted.push({ id: item.id, reason: error.message });
    }
  }
  return result;
}
