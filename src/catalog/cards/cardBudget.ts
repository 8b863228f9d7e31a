import { CatalogError } from '../catalogError.ts';
import { countTokens, fitsTokens } from '../tokenizer/tokens.ts';
import type { ChoiceCard } from './card.ts';
import { type LineOptions, renderCardLine } from './cardText.ts';
import { truncateToTokens } from './truncate.ts';

/** Token bounds of one card and of the rest of an answer (G2.6). */
export const CARD_TARGET_TOKENS = 60;
export const CARD_CAP_TOKENS = 80;
export const RESPONSE_PREAMBLE_TOKENS = 32;

/** Token limit of an answer with n cards (G2.6). */
export function responseCapTokens(cards: number): number {
  return CARD_CAP_TOKENS * cards + RESPONSE_PREAMBLE_TOKENS;
}

/**
 * Shortens the description until the line meets the target. No other field is cut: a card above the hard cap without
 * its description is an error (G2.7).
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

/** Cards within the cap, and the others with the reason. A card over the cap never fails the whole answer. */
export interface BudgetedCards {
  cards: ChoiceCard[];
  omitted: { id: string; reason: string }[];
}

/** Makes each card separately, so that one that throws `CatalogError` is set aside with its reason. */
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
