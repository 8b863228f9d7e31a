import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { nearest } from '../ops/nearest.ts';

export type Command =
  | { name: 'help' }
  | { name: 'version' }
  | { name: 'serve'; workspace: string }
  | { name: 'status'; workspace: string; json: boolean }
  | { name: 'stop'; workspace: string };

const COMMANDS = ['serve', 'status', 'stop'] as const;

const OPTIONS = {
  serve: { workspace: { type: 'string' } },
  status: { workspace: { type: 'string' }, json: { type: 'boolean' } },
  stop: { workspace: { type: 'string' } },
} as const;

type OptionValues = Record<string, string | boolean | undefined>;

/** EX_USAGE and EX_NOINPUT. */
const USAGE = 64;
const NO_INPUT = 66;

/** A command line that cannot be followed, told in one sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly exitCode: number;

  constructor(message: string, exitCode = USAGE) {
    super(message);
    this.exitCode = exitCode;
  }
}

export function parseCommandLine(argv: readonly string[]): Command {
  const [first, ...rest] = argv;
  if (first === undefined || first === 'help' || first === '--help' || first === '-h') return { name: 'help' };
  if (first === '--version' || first === '-v') return { name: 'version' };
  const name = COMMANDS.find((command) => command === first);
  if (!name) {
    const known = [...COMMANDS, '--help', '--version'];
    const hint = nearest(first, known);
    const remedy = hint ? `did you mean "${hint}"?` : `there are ${known.join(', ')}.`;
    throw new UsageError(`unknown ${first.startsWith('-') ? 'option' : 'command'} "${first}"; ${remedy}`);
  }
  if (rest.includes('--help') || rest.includes('-h')) return { name: 'help' };
  const values = parseOptions(name, rest);
  const workspace = existingFolder(values['workspace']);
  return name === 'status' ? { name, workspace, json: values['json'] === true } : { name, workspace };
}

function parseOptions(command: keyof typeof OPTIONS, argv: string[]): OptionValues {
  const options = OPTIONS[command];
  const known = Object.keys(options).map((option) => `--${option}`);
  for (const argument of argv) {
    const option = argument.split('=')[0] as string;
    if (argument.startsWith('-') && !known.includes(option)) {
      const hint = nearest(option, known);
      throw new UsageError(
        `waygate ${command} has no option "${option}"; ${hint ? `did you mean "${hint}"?` : `it takes ${known.join(', ')}.`}`,
      );
    }
  }
  try {
    return parseArgs({ args: argv, options, strict: true, allowPositionals: false }).values as OptionValues;
  } catch (error) {
    // Node's own sentence names the option or the stray word; its second sentence is about how to write a program.
    throw new UsageError(`waygate ${command}: ${(error as Error).message.split(/\. |\n/)[0]}.`.replace('..', '.'));
  }
}

function existingFolder(given: string | boolean | undefined): string {
  if (given === '') throw new UsageError('--workspace is empty; name the folder, or leave the option out.');
  const folder = resolve(typeof given === 'string' ? given : process.cwd());
  try {
    if (statSync(folder).isDirectory()) return folder;
  } catch {
    throw new UsageError(`the workspace folder ${folder} does not exist; name another with --workspace.`, NO_INPUT);
  }
  throw new UsageError(`${folder} is not a folder; name the workspace's folder with --workspace.`, NO_INPUT);
}
