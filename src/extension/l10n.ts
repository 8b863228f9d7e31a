import { createRequire } from 'node:module';
import { filled, hasWords, messageOf, type Translate } from '../text/messages.ts';

export { plural } from '../text/messages.ts';

/** Language of the user, as far as `l10n/` has a bundle for it. */
export interface Language {
  /** Tag, such as `de`. */
  name: string;
  translate: Translate;
  /** Texts by message, for pages. Empty for English. */
  texts: Readonly<Record<string, string>>;
}

let language = editorLanguage() ?? { name: 'en', translate: filled, texts: {} };

/**
 * Translates a text of the extension: t`Signed in to ${server}.` looks up `Signed in to {0}.`. A text is a whole
 * sentence or label, because languages order words differently. `npm run contributes` collects the texts of this tag,
 * of `notificationText` and of `markdownText` into `l10n/bundle.l10n.json`.
 */
export function t(words: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return translated(messageOf(words), values);
}

/** Translates a message with placeholders, or the words of a table that other programs share. */
export function translated(message: string, values: readonly (string | number)[] = []): string {
  return hasWords(message) ? language.translate(message, values) : filled(message, values);
}

export function languageOfPages(): Pick<Language, 'name' | 'texts'> {
  return language;
}

/** Replaces the editor's language, where no editor runs. */
export function speak(next: Language): void {
  language = next;
}

/** VS Code loads the bundle of its language before any code of the extension. Unit tests run without VS Code. */
function editorLanguage(): Language | undefined {
  try {
    const { env, l10n } = createRequire(import.meta.url)('vscode') as typeof import('vscode');
    const translate: Translate = (message, values) => l10n.t(message, ...values);
    return { name: l10n.bundle ? env.language : 'en', translate, texts: l10n.bundle ?? {} };
  } catch {
    return undefined;
  }
}
