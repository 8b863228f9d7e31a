// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in the configuration's own syntax
import { describe, expect, it } from 'vitest';
import { literalSecretAt } from '../../src/extension/configuration/jsonEdits.ts';
import {
  hasTyped,
  inserted,
  pieceAt,
  proposalAt,
  readText,
  subjectAt,
} from '../../src/extension/configuration/language/configurationText.ts';

const TEXT = `{
  // "servers": { "commented": {} }
  "servers": {
    "a.b \\"c\\"": { "command": "x" }, /* odd */
    "größe 數": { "env": { "K": "Bearer \${secret:one} \${secret:two}" } },
    "twice": { "command": "1" },
    "twice": { "command": "2" },
    "es\\u0063aped": 1,
  },
  "rateLimits": { "tool_view": { "maxCallsPerMinute": 3 }, "perTool": { "a:b": { "maxCallsPerSession": 4 } } }
}`;
const FORMS = [
  ['with line feeds', TEXT],
  ['with CRLF', TEXT.replaceAll('\n', '\r\n')],
] as const;
/** Returns the text of a piece with the place of its beginning. */
const shown = (text: string, { offset, length }: { offset: number; length: number }): string =>
  text.slice(offset, offset + length);

describe.each(FORMS)('a configuration %s', (_, text) => {
  it('has the name of each server at its place, whatever its characters, without those in comments', () => {
    const { servers, isBroken } = readText(text);
    expect(isBroken).toBe(false);
    expect(servers.map((server) => [server.name, shown(text, server)])).toEqual([
      ['a.b "c"', '"a.b \\"c\\""'],
      ['größe 數', '"größe 數"'],
      ['twice', '"twice"'],
      ['twice', '"twice"'],
      ['escaped', '"es\\u0063aped"'],
    ]);
    const [first, second] = servers.filter(({ name }) => name === 'twice');
    expect(first?.offset).toBe(text.indexOf('"twice"'));
    expect(second?.offset).toBe(text.lastIndexOf('"twice"'));
  });

  it('marks a word as a whole, and of a long value its first character', () => {
    const model = readText(text);
    expect(shown(text, pieceAt(model, text.indexOf('"größe')))).toBe('"größe 數"');
    expect(pieceAt(model, 0)).toEqual({ offset: 0, length: 1 });
    // Between two tokens.
    expect(pieceAt(model, 1).length).toBe(0);
  });

  it.each([
    ['a.b', 'server', 'a.b "c"', '"a.b \\"c\\""'],
    ['數', 'server', 'größe 數', '"größe 數"'],
    ['one}', 'secret', 'one', '${secret:one}'],
    ['two}', 'secret', 'two', '${secret:two}'],
  ])('finds at %s the %s %s', (at, kind, name, piece) => {
    const subject = subjectAt(readText(text), text.indexOf(at));
    expect(subject).toMatchObject({ kind, name });
    expect(subject && shown(text, subject)).toBe(piece);
  });

  it.each([
    ['tool_view', ['tool_view/minute', 'tool_view/session']],
    ['maxCallsPerMinute', ['tool_view/minute']],
    ['3 }', ['tool_view/minute']],
    ['a:b', ['tool:a:b/minute', 'tool:a:b/session']],
    ['maxCallsPerSession', ['tool:a:b/session']],
  ])('finds at %s the windows %j', (at, scopes) => {
    expect(subjectAt(readText(text), text.indexOf(at))).toMatchObject({ kind: 'limit', scopes });
  });

  it.each(['commented', '"x"', 'Bearer', '"servers": {\n', '"perTool"', '"rateLimits"'])(
    'finds nothing at %s',
    (at) => {
      expect(subjectAt(readText(text), text.indexOf(at) + 1)).toBeUndefined();
    },
  );
});

describe('a text with errors', () => {
  it('keeps the servers that it has, and says that it is broken', () => {
    const { servers, isBroken } = readText('{"servers": {"a": {"command": "x"}, "b": ');
    expect(isBroken).toBe(true);
    expect(servers.map(({ name }) => name)).toEqual(['a']);
    for (const text of ['', '[]', '{"servers": []}', 'x']) expect(readText(text).servers).toEqual([]);
  });
});

describe('completion', () => {
  it.each([
    ['{"servers":{"a":{"env":{"X":"${secret:|}"}}}}', 'TOKEN', '{"servers":{"a":{"env":{"X":"${secret:TOKEN}"}}}}'],
    ['{"servers":{"a":{"args":["--k=${secret:T|"]}}}', 'TOKEN', '{"servers":{"a":{"args":["--k=${secret:TOKEN}"]}}}'],
    ['{"servers":{"a":{"env":{"X":"${secret:T|OLD}!"}}}}', 'NEW', '{"servers":{"a":{"env":{"X":"${secret:NEW}!"}}}}'],
    ['{"policy":{"rules":[{"server":|}]}}', 'a "b"', '{"policy":{"rules":[{"server":"a \\"b\\""}]}}'],
    ['{"policy":{"rules":[{"server":"x|y"}]}}', 'a', '{"policy":{"rules":[{"server":"a"}]}}'],
    ['{"rateLimits":{"perTool":{|}}}', 'a:b:1', '{"rateLimits":{"perTool":{"a:b:1": {}}}}'],
    ['{"rateLimits":{"perTool":{"a|":{"x":1}}}}', 'a:b:1', '{"rateLimits":{"perTool":{"a:b:1":{"x":1}}}}'],
  ])('replaces the right piece of %s', (marked, name, expected) => {
    const offset = marked.indexOf('|');
    const text = marked.replace('|', '');
    const proposal = proposalAt(text, offset);
    if (!proposal) throw new Error('no proposal');
    const { offset: from, length } = proposal;
    expect(text.slice(0, from) + inserted(proposal, name) + text.slice(from + length)).toBe(expected);
  });

  it.each([
    '{"servers":{"a":{"env":{"X":"${secret:A}|"}}}}',
    '{"servers":{"a":{"env":{"X":"${env:|}"}}}}',
    '{"policy":{"rules":[{"|server":"x"}]}}',
    '{"policy":{"rules":[{"tool":"|"}]}}',
    '{"rateLimits":{"|perTool":{}}}',
    '{"rateLimits":{"perTool":{"a":{"|":1}}}}',
  ])('offers no names at %s', (marked) => {
    expect(proposalAt(marked.replace('|', ''), marked.indexOf('|'))).toBeUndefined();
  });
});

describe('a typed name', () => {
  it.each([
    ['memory', 'MEM'],
    ['memory', 'memry'],
    ['memory', ''],
  ])('finds %s by "%s"', (name, typed) => expect(hasTyped(name, typed)).toBe(true));

  it.each([
    ['memory', 'memoryy'],
    ['memory', 'yrom'],
  ])('does not find %s by "%s"', (name, typed) => expect(hasTyped(name, typed)).toBe(false));
});

describe('a literal secret', () => {
  const TOKEN = `ghp_${'a1B2'.repeat(9)}`;
  const text = `{"servers": {"x": {"command": "c", "args": ["--api-key", "${TOKEN}"],\r\n "env": {"GITHUB_TOKEN": "${TOKEN}"}},
    "web": {"url": "https://h/?token=${TOKEN}", "headers": {"Authorization": "Bearer ${TOKEN}"}}}}`;

  it.each([
    ['--api-key', 'api-key', '${secret:N}'],
    ['GITHUB_TOKEN', 'GITHUB_TOKEN', '${secret:N}'],
    ['"url"', 'web_TOKEN', 'https://h/?token=${secret:N}'],
    ['Authorization', 'web_TOKEN', 'Bearer ${secret:N}'],
  ])('behind %s gives way to a reference, and the rest of the string stays', (before, name, after) => {
    const opening = text.indexOf('"', text.indexOf(before) + before.length + 1);
    const literal = literalSecretAt(text, opening);
    expect(literal).toMatchObject({ name, value: TOKEN });
    expect(literal?.withReference('N')).toBe(after);
  });

  it('is not found where there is none', () => {
    expect(literalSecretAt(text, text.indexOf('"c"'))).toBeUndefined();
    expect(literalSecretAt('{}', 0)).toBeUndefined();
  });
});
