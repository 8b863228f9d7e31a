import { messageOf } from '../text/messages.ts';
import { oneLine } from '../text/porcelain.ts';
import { visibleText } from '../text/visibleText.ts';
import type { CommandId } from './contributions.ts';
import { translated } from './l10n.ts';

/** Length at which VS Code cuts a notification. */
const MAX_CHARS = 1_000;
/** Limit of each foreign text, so that a long one does not push out the words after it. */
const MAX_VALUE_CHARS = 600;

declare const CLEANED: unique symbol;
declare const ESCAPED: unique symbol;

/** Single line without links and icons, as `notificationText` makes it. */
export type NotificationText = string & { readonly [CLEANED]: true };
/** Markdown without foreign markup, as `markdownText` makes it. */
export type MarkdownText = string & { readonly [ESCAPED]: true };

/**
 * Builds a text for a message, a progress title, a row or a prompt from own words, which are translated, and foreign
 * values: names, reasons, arguments, errors, paths. VS Code turns `[label](command:…)` in such texts into a link that
 * runs the command, and `$(name)` into an icon.
 */
export function notificationText(
  words: TemplateStringsArray,
  ...values: readonly (string | number)[]
): NotificationText {
  const lines = values.map((value) => oneLine(String(value), MAX_VALUE_CHARS));
  // The whole text, because two values that stand side by side may form a link together.
  return oneLine(withoutLinks(translated(messageOf(words), lines)), MAX_CHARS) as NotificationText;
}

/**
 * Builds Markdown from own markup, whose words are translated, and foreign values, in which every punctuation mark is
 * escaped, so that they become no link, picture or heading. (The editor's own `appendText` makes each space unbreakable,
 * and long lines overflow.)
 */
export function markdownText(markup: TemplateStringsArray, ...values: readonly string[]): MarkdownText {
  return translated(messageOf(markup), values.map(escaped)) as MarkdownText;
}

function escaped(text: string): string {
  const lines = visibleText(text).split('\n');
  return lines.map((line) => line.trim().replace(/[!-/:-@[-`{-~]/g, '\\$&')).join('\n');
}

/** Makes a link that runs a command, with an argument if one is given. */
export function commandLink(title: string, command: CommandId, argument?: object): MarkdownText {
  const query = argument === undefined ? '' : encodeURIComponent(JSON.stringify([argument]));
  const address = query === '' ? `command:${command}` : `command:${command}?${query}`;
  return `[${escaped(title)}](${escaped(address)})` as MarkdownText;
}

/** Joins pieces of Markdown in one line. */
export function markdownLine(pieces: readonly MarkdownText[]): MarkdownText {
  return pieces.join(' · ') as MarkdownText;
}

export function paragraph(line: MarkdownText): MarkdownText {
  return `${line}\n\n` as MarkdownText;
}

/**
 * Puts a space where a link or an icon would begin. VS Code links only `[label](address)`; the other forms are those of
 * Markdown and of editors that link bare addresses.
 */
function withoutLinks(text: string): string {
  return text.replace(/[\]$](?=\()|<(?=[a-z][\w+.-]*:)|command:(?=\S)/gi, '$& ');
}
