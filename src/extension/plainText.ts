/** Control characters, and the marks that turn the direction of text around: a server's words must not disguise a row. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const DISGUISE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g;

/** Foreign text as one line of at most `limit` characters. */
export function oneLine(text: string, limit: number): string {
  const line = text.replace(DISGUISE, ' ').replace(/\s+/g, ' ').trim();
  const characters = [...line];
  return characters.length <= limit
    ? line
    : `${characters
        .slice(0, limit - 1)
        .join('')
        .trimEnd()}…`;
}

/** A reason that came from elsewhere, as the sentence it should be. */
export function asSentence(text: string): string {
  const line = oneLine(text, 300);
  return line === '' || /[.!?…]$/.test(line) ? line : `${line}.`;
}

/**
 * Foreign text as Markdown that shows just this text: every punctuation mark is escaped, so that none of it becomes a
 * link, a picture or a heading. (The editor's own `appendText` makes each space unbreakable, and long lines overflow.)
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
