/** Control characters and marks that change the direction of text: a server's text must not disguise a row. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const DISGUISE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g;

/** Renders foreign text as one line of at most `limit` characters. */
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

/** Renders a foreign reason as one sentence. */
export function asSentence(text: string): string {
  const line = oneLine(text, 300);
  return line === '' || /[.!?…]$/.test(line) ? line : `${line}.`;
}

export function count(amount: number, singular: string): string {
  return `${amount} ${singular}${amount === 1 ? '' : 's'}`;
}
