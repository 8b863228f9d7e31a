import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/loadConfig.ts';
import { reachBeside } from '../../src/config/reach.ts';

const reach = (one: object, other: object): string[] => {
  const text = JSON.stringify({ servers: { one, other } });
  const { servers } = parseConfig(text, '/w/.vscode/waygate.json', '/w', { HOME: '/h' });
  const [first, second] = servers;
  if (!first || !second) throw new Error('the configuration has an error');
  return reachBeside(first, second);
};
const run = (...args: string[]): object => ({ command: 'fs-mcp', args });

describe('the reach of a server beside another one', () => {
  it.each<[string, object, object, string[]]>([
    ['the same launch', run('/home/u'), run('/home/u'), []],
    ['a folder', run('-y', '/home/u'), run('-y', '/home/u/Documents'), ['"/home/u"']],
    ['several folders', run('/a', '/b', '~/c'), run('/a'), ['"/b"', '"~/c"']],
    ['an option', run('--token', 'abc123secret'), run('--token', 'def456secret'), []],
    [
      'an address with credentials',
      run('postgres://me:pw@db:5/a?x=y'),
      run('postgres://db/b'),
      ['"postgres://db:5/a"'],
    ],
    [
      'an account',
      { ...run(), env: { TOKEN: 'one', A: 'b' } },
      { ...run(), env: { TOKEN: 'two', A: 'b' } },
      ['its own "TOKEN"'],
    ],
    ['a folder to run in', { ...run(), cwd: '/x' }, run(), ['"/x"']],
    ['a URL', { url: 'https://a.test/mcp?key=1' }, { url: 'https://b.test/mcp' }, ['"https://a.test/mcp"']],
    [
      'a header',
      { url: 'https://a.test/mcp', headers: { Authorization: 'Bearer one' } },
      { url: 'https://a.test/mcp', headers: { Authorization: 'Bearer two' } },
      ['its own "Authorization"'],
    ],
    ['a token of a known form', run(`/x/ghp_${'a1'.repeat(18)}`), run('/y'), [expect.not.stringContaining('ghp_a1')]],
  ])('is %s', (_, one, other, expected) => {
    expect(reach(one, other)).toEqual(expected);
  });
});
