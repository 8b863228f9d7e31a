import { oneLine } from '../text/porcelain.ts';

/** Renders a foreign reason as one sentence. */
export function asSentence(text: string): string {
  const line = oneLine(text, 300);
  return line === '' || /[.!?…]$/.test(line) ? line : `${line}.`;
}

/**
 * Escapes every punctuation mark, so that foreign text in Markdown becomes no link, picture or heading. (The editor's
 * own `appendText` makes each space unbreakable, and long lines overflow.)
 */
export function escapeMarkdown(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trim().replace(/[!-/:-@[-`{-~]/g, '\\$&'))
    .join('\n');
}

export function count(amount: number, singular: string): string {
  return `${amount} ${singular}${amount === 1 ? '' : 's'}`;
}
