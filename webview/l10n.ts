import { filled, messageOf } from '../src/text/messages.ts';

export { plural } from '../src/text/messages.ts';

/** Texts of the user's language by message, which the extension writes into the page (`webviewPage.ts`). */
const TEXTS: Readonly<Record<string, string>> = JSON.parse(page()?.body.dataset.texts ?? '{}');

/** Unit tests render parts of a page without one. */
function page(): { body: { dataset: { texts?: string } } } | undefined {
  return (globalThis as { document?: ReturnType<typeof page> }).document;
}

/** Translates a text of a page, as `t` of the extension does. */
export function t(words: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  const message = messageOf(words);
  return filled(TEXTS[message] ?? message, values);
}
