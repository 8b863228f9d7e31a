import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { mayInstall } from '../../scripts/lib/systemPackages.mjs';

describe('packages of the system', () => {
  it.each([
    ['y\n', true],
    ['Yes\n', true],
    ['\n', false],
    ['n\n', false],
    [null, false],
  ])('are installed for a person who types %j: %s', async (typed, expected) => {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    const output = new PassThrough();
    const answer = mayInstall(['chromium', 'socat'], { input, output });
    if (typed === null) input.end();
    else input.write(typed);
    expect(await answer).toBe(expected);
    expect(String(output.read())).toContain('Install chromium and socat with apt-get? [y/N]');
  });

  it('are installed where nobody can be asked', async () => {
    expect(await mayInstall(['chromium'], { input: new PassThrough(), output: new PassThrough() })).toBe(true);
  });
});
