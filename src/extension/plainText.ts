import { oneLine } from '../text/porcelain.ts';

/** Renders a foreign reason as one sentence. */
export function asSentence(text: string): string {
  const line = oneLine(text, 300);
  return line === '' || /[.!?…]$/.test(line) ? line : `${line}.`;
}

/** Shortens a number of tokens: `840`, `47.7k`. */
export function shortTokens(tokens: number): string {
  return tokens < 1_000 ? String(tokens) : `${(tokens / 1_000).toFixed(1)}k`;
}

export function count(amount: number, singular: string): string {
  return `${amount} ${singular}${amount === 1 ? '' : 's'}`;
}
