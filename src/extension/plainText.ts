import { oneLine } from '../text/porcelain.ts';

/** Renders a foreign reason as one sentence. */
export function asSentence(text: string): string {
  const line = oneLine(text, 300);
  return line === '' || /[.!?…]$/.test(line) ? line : `${line}.`;
}

export function count(amount: number, singular: string): string {
  return `${amount} ${singular}${amount === 1 ? '' : 's'}`;
}
