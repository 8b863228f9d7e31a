/** Messages of people's languages: a text with a numbered placeholder for each value. */

export type Translate = (message: string, values: readonly (string | number)[]) => string;

/** Returns the message of a template: `Signed in to {0}.`. */
export function messageOf(words: readonly string[]): string {
  return words.reduce((message, next, index) => `${message}{${index - 1}}${next}`);
}

/** Puts the values in the places of a message, as VS Code does. */
export function filled(message: string, values: readonly (string | number)[]): string {
  return message.replace(/\{(\d+)\}/g, (place, index) => String(values[Number(index)] ?? place));
}

/** Chooses between the text for one and the text for any other number. */
export function plural(amount: number, one: string, other: string): string {
  return amount === 1 ? one : other;
}

/** False for a message that consists of placeholders and punctuation, which is the same in all languages. */
export function hasWords(message: string): boolean {
  return /\p{L}/u.test(message);
}
