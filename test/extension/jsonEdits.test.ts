import { applyEdits, type EditResult, parse } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { EditRefused, excluding, settingValue, switching } from '../../src/extension/configuration/jsonEdits.ts';

const TEXT = `{
    // mine
    "servers": {
        "a.b \\"c\\"": { "command": "x" }, // odd
        "größe 數": {
            "command": "y",
            "tools": { "exclude": ["one"] }
        }
    }
}
`;
const edited = (text: string, edits: readonly object[]): string => applyEdits(text, edits as EditResult);

describe('Edits of a configuration', () => {
  it('switch a server off and on by its exact name, and keep comments, indentation and line ends', () => {
    for (const text of [TEXT, TEXT.replaceAll('\n', '\r\n'), TEXT.replaceAll('    ', '\t')]) {
      for (const name of ['a.b "c"', 'größe 數']) {
        const off = edited(text, switching(text, name, true));
        expect(parse(off).servers[name].disabled).toBe(true);
        expect(off).toContain('// mine');
        expect(off).toContain('// odd');
        if (text.includes('\r\n')) expect(off.replaceAll('\r\n', '')).not.toContain('\n');
        if (text.includes('\t')) expect(off).not.toContain('    ');
        expect(parse(edited(off, switching(off, name, false)))).toEqual(parse(text));
        expect(switching(text, name, false)).toEqual([]);
      }
    }
  });

  it('exclude tools once each, with patterns taken literally, and include them again', () => {
    const edits = excluding(TEXT, 'größe 數', { add: ['one', 'two', 'a[b]*'] });
    const more = edited(TEXT, edits);
    expect(parse(more).servers['größe 數'].tools.exclude).toEqual(['one', 'two', 'a[[]b][*]']);
    const fewer = edited(more, excluding(more, 'größe 數', { remove: ['two', 'a[b]*', 'unknown'] }));
    expect(parse(fewer).servers['größe 數'].tools.exclude).toEqual(['one']);
    expect(excluding(TEXT, 'größe 數', { add: ['one'] })).toEqual([]);
    const first = edited(TEXT, excluding(TEXT, 'a.b "c"', { add: ['x'] }));
    expect(parse(first).servers['a.b "c"']).toEqual({ command: 'x', tools: { exclude: ['x'] } });
  });

  it('refuse a text with errors and a server that is not there', () => {
    expect(() => switching('{"servers": {"a": {}', 'a', true)).toThrow('Correct the errors');
    expect(() => switching('{"servers": {"a": {}}}', 'b', true)).toThrow('The file has no server "b" any more');
    expect(() => switching('{"servers": {"a": 1}}', 'a', true)).toThrow(EditRefused);
    expect(() => excluding('{}', 'a', { add: ['x'] })).toThrow(EditRefused);
  });

  it('create the place of a value in an empty file', () => {
    expect(parse(edited('', settingValue('', ['rateLimits'], {})))).toEqual({ rateLimits: {} });
  });
});
