import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { until } from './hostProcess.ts';
import { atEnd } from './lifetime.ts';

export interface InTerminal {
  env: NodeJS.ProcessEnv;
  cwd: string;
  typed: string;
  /** Text after which the user types. */
  asks?: RegExp;
}

const inShell = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** Runs a command in a pseudo-terminal of `script`, which every Debian and macOS has, and types when it asks. */
export async function inTerminal(
  command: readonly string[],
  { env, cwd, typed, asks = /\[[yY]\/[nN]\] / }: InTerminal,
): Promise<{ code: number | null; text: string }> {
  const options =
    process.platform === 'linux'
      ? ['-q', '-e', '-c', command.map(inShell).join(' '), '/dev/null']
      : ['-q', '/dev/null', ...command];
  const child = spawn('script', options, { env: { ...env, SHELL: '/bin/sh', TERM: 'xterm' }, cwd });
  atEnd(() => void child.kill('SIGKILL'));
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const ended = new Promise<number | null>((done) => child.once('close', done));
  await until('the question', () => asks.test(text));
  child.stdin.write(typed);
  return { code: await ended, text: stripVTControlCharacters(text).replaceAll('\r\n', '\n') };
}
