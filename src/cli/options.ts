import { parseArgs } from 'node:util';
import { didYouMean } from '../text/nearest.ts';
import { type CommandName, NEEDS, OPTIONS, TAKES_WORDS } from './commands.ts';
import { UsageError } from './usageError.ts';

export type OptionValues = Readonly<Record<string, string | boolean | string[] | undefined>>;

export interface ParsedOptions {
  values: OptionValues;
  /** All words that are not options: joined, and as a list. */
  subject: string;
  names: readonly string[];
}

export function parseOptions(command: CommandName, argv: string[]): ParsedOptions {
  const options = OPTIONS[command];
  const known = Object.keys(options).map((option) => `--${option}`);
  for (const argument of argv) {
    const option = argument.split('=')[0] as string;
    if (argument.startsWith('-') && !known.includes(option)) {
      const remedy = didYouMean(option, known, `it takes ${known.join(', ')}.`);
      throw new UsageError(`waygate ${command} has no option "${option}"; ${remedy}`);
    }
  }
  try {
    const { values, positionals } = parseArgs({
      args: argv,
      options,
      strict: true,
      allowPositionals: TAKES_WORDS.has(command),
    });
    const subject = positionals.join(' ');
    const needed = NEEDS[command];
    if (needed !== undefined && subject.trim() === '') throw new UsageError(`waygate ${command} ${needed}`);
    return { values: values as OptionValues, subject, names: positionals };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    // Use Node's first sentence, which names the option or the stray word; the second is advice for programmers.
    throw new UsageError(`waygate ${command}: ${(error as Error).message.split(/\. |\n/)[0]}.`.replace('..', '.'));
  }
}
