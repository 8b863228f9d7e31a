import { oddityWords, type ServerOddity } from '../control/serverOddities.ts';
import { groupDigits, oneLine } from '../text/porcelain.ts';
import { COMMANDS, type CommandId } from './contributions.ts';
import { plural, t, translated } from './l10n.ts';

/** Renders a foreign reason as one sentence. */
export function asSentence(text: string): string {
  const line = oneLine(text, 300);
  return line === '' || /[.!?…]$/.test(line) ? line : `${line}.`;
}

/** Shortens a number of tokens: `840`, `47.7k`. */
export function shortTokens(tokens: number): string {
  return tokens < 1_000 ? String(tokens) : `${(tokens / 1_000).toFixed(1)}k`;
}

/** Returns the title of a command, as the palette has it. */
export function commandTitle(id: CommandId): string {
  return translated(COMMANDS[id].title);
}

/** Lists what a server does against the protocol. The worker names each kind in English. */
export function odditiesOf(oddities: readonly ServerOddity[]): string {
  return oddityWords(
    oddities,
    (words) => translated(words),
    (shown, more) => t`${shown}, and ${more} more`,
  );
}

/** Numbers with their noun, for labels and lists. A sentence with a number is one text: see `plural`. */
export const amounts = {
  calls: (n: number): string => plural(n, t`1 call`, t`${groupDigits(n)} calls`),
  errors: (n: number): string => plural(n, t`1 error`, t`${groupDigits(n)} errors`),
  questions: (n: number): string => plural(n, t`1 question`, t`${groupDigits(n)} questions`),
  restarts: (n: number): string => plural(n, t`1 restart`, t`${groupDigits(n)} restarts`),
  servers: (n: number): string => plural(n, t`1 server`, t`${groupDigits(n)} servers`),
  tools: (n: number): string => plural(n, t`1 tool`, t`${groupDigits(n)} tools`),
};
