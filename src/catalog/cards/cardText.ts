import { withoutHidden } from '../../text/visibleText.ts';
import type { ChoiceCard } from './card.ts';

export interface LineOptions {
  /** Shows the score, for an explanation to a person. A prompt never shows it (G2.5). */
  score?: boolean;
}

/** Line form of a card, on which the token budget is counted (G2.5). `position` counts from 1. */
export function renderCardLine(card: ChoiceCard, position: number, total: number, options: LineOptions = {}): string {
  const tags = card.tags.length > 0 ? ` [${card.tags.join(', ')}]` : '';
  const score = options.score && card.score !== undefined ? ` score=${card.score.toFixed(2)}` : '';
  return `[${position}/${total}] ${card.id} (${card.kind}) — ${card.description}${tags}${score}`;
}

/** Returns the JSON form: plain data, `score` only where the card has one. */
export function cardToJson(card: ChoiceCard): Record<string, unknown> {
  const { score, ...fields } = card;
  return score === undefined ? fields : { ...fields, score };
}

/** Part of a long description that is cleaned. A card shows a few hundred characters at most. */
const CLEANED_LENGTH = 8192;
/** Least length after cleaning. Below it the start was mostly white space, and the whole text is cleaned. */
const LEAST_CLEANED = 2048;

/**
 * Cleans a server's text to one line that hides nothing (G2.11): collapses white space, removes marks of Markdown
 * headings and bold and emoji before a heading, and removes invisible and direction-changing characters, which can
 * smuggle orders to a model. Entities stay unchanged.
 */
export function visibleLine(text: string): string {
  if (text.length <= CLEANED_LENGTH) return clean(text);
  const start = clean(text.slice(0, CLEANED_LENGTH));
  return start.length >= LEAST_CLEANED ? start : clean(text);
}

/** Matches text that needs no cleaning, which is most text. */
const PLAIN = /^(?! )(?!.* {2})[ !"$-)+-~]*(?<! )$/;

const HEADING = /^[ \t]*#{1,6}[ \t]+/gm;
const BOLD = /\*\*([^*\n]+)\*\*/g;
const LEADING_EMOJI = /^[ \t]*(?:(?![©®™])\p{Extended_Pictographic}(?:\ufe0f|\u200d|[\u{1f3fb}-\u{1f3ff}])*)+[ \t]*/gmu;

function clean(text: string): string {
  if (PLAIN.test(text)) return text;
  return withoutHidden(text)
    .replaceAll(HEADING, '')
    .replaceAll(LEADING_EMOJI, '')
    .replaceAll(BOLD, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
