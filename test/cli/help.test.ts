import { describe, expect, it } from 'vitest';
import { parseCommandLine } from '../../src/cli/commandLine.ts';
import { COMMAND_NAMES, OPTIONS } from '../../src/cli/commands.ts';
import { helpOf, overview, START } from '../../src/cli/help.ts';
import { waygate } from '../support/census.ts';
import { testWorkspace } from '../support/workspace.ts';

/** Splits a line of a help text into the words that a shell would pass on. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? (plain as string)).slice(1);

describe('help', () => {
  it.each(COMMAND_NAMES)('of %s names all its options, and has an example that the command line accepts', (name) => {
    const text = helpOf(name);
    const named = [...text.matchAll(/^ {2}--([\w-]+)/gm)].map(([, option]) => option);
    expect(named.sort()).toEqual(Object.keys(OPTIONS[name]).sort());
    const [, example = ''] = /\nExample:\n {2}(.*)\n$/.exec(text) ?? [];
    expect(parseCommandLine(wordsOf(example))).toMatchObject({ name });
    expect(text.split('\n').filter((line) => line.length > 160)).toEqual([]);
  });

  it('differs from command to command', () => {
    expect(new Set(COMMAND_NAMES.map(helpOf)).size).toBe(COMMAND_NAMES.length);
  });

  it('without a command shows the first steps in at most ten lines, each a valid command', () => {
    expect(START.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
    const steps = [...START.matchAll(/^ {2}(waygate .*?) {2,}/gm)].map(([, step]) => step as string);
    expect(steps.map((step) => parseCommandLine(wordsOf(step.replace('CLIENT', 'cursor'))).name)).toEqual([
      'import',
      'approve',
      'browse',
      'client-config',
      'status',
    ]);
  });

  it.each([
    [[], START],
    [['--help'], overview()],
    [['-h'], overview()],
    [['help'], overview()],
    [['help', 'approve'], helpOf('approve')],
    [['approve', '--help'], helpOf('approve')],
    [['stop', '-h'], helpOf('stop')],
  ])('is printed for %j', async (args, text) => {
    const workspace = testWorkspace();
    const { code, stdout, stderr } = await waygate(workspace, args);
    const file = (printed: string): string => printed.replace(/Your own file, for every workspace, is .*/, '');
    expect([code, stderr, file(stdout)]).toEqual([0, '', file(text)]);
  });
});
