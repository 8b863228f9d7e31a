import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

const run = (script: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`scripts/${script}.mjs`, ...args], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
};

describe('npm test and npm start', () => {
  it.each([
    ['test', '--help', /^npm test .*runs every check\n.*--only NAME,\.\.\. .*editor, .*unit\n/],
    ['test', '-h', /^npm test /],
    ['start', '--help', /^npm start .*\n.*--server/],
  ])('%s %s prints help and starts nothing', (script, option, text) => {
    expect(run(script, option)).toEqual({ status: 0, stdout: expect.stringMatching(text), stderr: '' });
  });

  it.each([
    ['test', ['--onyl', 'pure'], /Unknown option '--onyl'/],
    ['test', ['pure'], /Unexpected argument 'pure'/],
    ['test', ['--only', 'nothing'], /There is no stage "nothing"\./],
    ['test', ['--only='], /--only needs the name of a stage\./],
    ['start', ['--prot', '1'], /Unknown option '--prot'/],
  ])('%s %j is refused with the help', (script, args, problem) => {
    const { status, stdout, stderr } = run(script, ...args);
    expect([status, stdout, stderr]).toEqual([64, '', expect.stringMatching(problem)]);
    expect(stderr).toContain(`npm ${script} -- `);
  });
});
