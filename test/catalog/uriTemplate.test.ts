import { describe, expect, it } from 'vitest';
import { matchesTemplate, variablesOf } from '../../src/catalog/primitives/uriTemplate.ts';

describe('URI templates', () => {
  it.each([
    ['log://a/{day}/{level}', 'log://a/monday/error'],
    ['demo://resource/dynamic/text/{resourceId}', 'demo://resource/dynamic/text/7'],
    ['file:///{+path}', 'file:///a/b/c.md'],
    ['search://x{?q,limit}', 'search://x?q=a&limit=3'],
    ['search://x{?q,limit}', 'search://x'],
    ['repo://{owner}/{repo}/contents{/path*}', 'repo://o/r/contents/src/a.ts'],
    ['{scheme}://x', 'a://x'],
    ['a{x}{y}b', 'a12b'],
    ['日本://{名}', '日本://東京'],
  ])('%s matches %s', (template, uri) => expect(matchesTemplate(template, uri)).toBe(true));

  it.each([
    ['log://a/{day}/{level}', 'log://a/monday'],
    ['log://a/{day}/{level}', 'log://a/monday/error/more'],
    ['log://a/{day}/{level}', 'log://a//error'],
    ['log://a/{day}', 'log://b/monday'],
    ['file:///a.md', 'file:///a.md'],
    ['log://{day', 'log://monday'],
    ['a://{x}', 'a://'],
  ])('%s does not match %s', (template, uri) => expect(matchesTemplate(template, uri)).toBe(false));

  it('match in linear time, whatever the template', () => {
    // A backtracking engine would not terminate.
    expect(matchesTemplate(`a://${'{x}{+y}'.repeat(150)}b`, `a://${'x'.repeat(2_000)}c`)).toBe(false);
  });
});

it('list their variables', () => {
  expect(variablesOf('a://{b}/{+c*}{?d,e:3}')).toEqual(['b', 'c', 'd', 'e']);
  expect(variablesOf('a://b')).toEqual([]);
});
