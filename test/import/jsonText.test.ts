import fc from 'fast-check';
import { type ParseError, parse } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { CONFIGURATION_TEMPLATE } from '../../src/extension/configuration/configurationFile.ts';
import { appendItem, removeMember, setMember } from '../../src/import/jsonText.ts';

const value = { command: 'npx', args: ['-y', 'x'] };
const read = (text: string): unknown => {
  const errors: ParseError[] = [];
  const result: unknown = parse(text, errors, { allowTrailingComma: true });
  expect(errors).toEqual([]);
  return result;
};

describe('setMember', () => {
  it.each<[string, string, string]>([
    [
      'leaves the formatting and the comments of its neighbours alone',
      '{\n  "servers": {\n    "a": {"command":"b"}, // about a\n    // about b\n    "b": {"command":"b"} // tail\n  }\n}\n',
      '{\n  "servers": {\n    "a": {"command":"b"}, // about a\n    // about b\n    "b": {"command":"b"}, // tail\n    "x": {\n      "command": "npx",\n      "args": ["-y", "x"]\n    }\n  }\n}\n',
    ],
    [
      'keeps a trailing comma a trailing comma',
      '{\n  "servers": {\n    "a": {},\n  },\n}',
      '{\n  "servers": {\n    "a": {},\n    "x": {\n      "command": "npx",\n      "args": ["-y", "x"]\n    },\n  },\n}',
    ],
    [
      'writes with tabs and the line ends of the file',
      '{\r\n\t"servers": {\r\n\t\t"a": {}\r\n\t}\r\n}',
      '{\r\n\t"servers": {\r\n\t\t"a": {},\r\n\t\t"x": {\r\n\t\t\t"command": "npx",\r\n\t\t\t"args": ["-y", "x"]\r\n\t\t}\r\n\t}\r\n}',
    ],
    [
      'opens up an object on one line',
      '{ "servers": { "a": {} } }',
      '{ "servers": { "a": {},\n  "x": {\n    "command": "npx",\n    "args": ["-y", "x"]\n  }\n} }',
    ],
    [
      'makes the objects on the way',
      '{}',
      '{\n  "servers": {\n    "x": {\n      "command": "npx",\n      "args": ["-y", "x"]\n    }\n  }\n}',
    ],
    [
      'replaces what is there',
      '{\n  "servers": {\n    "x": { "command": "old" } // mine\n  }\n}',
      '{\n  "servers": {\n    "x": {\n      "command": "npx",\n      "args": ["-y", "x"]\n    } // mine\n  }\n}',
    ],
  ])('%s', (_, before, after) => {
    expect(setMember(before, ['servers', 'x'], value)).toBe(after);
  });

  it('keeps every line of the template', () => {
    const after = setMember(CONFIGURATION_TEMPLATE, ['servers', 'x'], value);
    expect(read(after)).toMatchObject({ servers: { x: value } });
    const lines = after.split('\n');
    for (const line of CONFIGURATION_TEMPLATE.split('\n')) expect(lines).toContain(line);
  });

  it('breaks long lists into lines', () => {
    const args = Array.from({ length: 8 }, (_, i) => `--a-rather-long-option-${i}`);
    expect(setMember('{}', ['x'], { args })).toContain('"args": [\n      "--a-rather-long-option-0",\n');
  });
});

describe('appendItem', () => {
  it('appends to a list, or creates one', () => {
    expect(appendItem('{\n  "inputs": [\n    { "id": "a" } // first\n  ]\n}', ['inputs'], { id: 'b' })).toBe(
      '{\n  "inputs": [\n    { "id": "a" }, // first\n    {\n      "id": "b"\n    }\n  ]\n}',
    );
    expect(read(appendItem('{"servers":{}}', ['inputs'], { id: 'b' }))).toEqual({ servers: {}, inputs: [{ id: 'b' }] });
    expect(read(appendItem('{"inputs":[]}', ['inputs'], { id: 'b' }))).toEqual({ inputs: [{ id: 'b' }] });
  });
});

describe('removeMember', () => {
  const text =
    '{\n  // all\n  "s": {\n    // about a\n    "a": {"x": 1}, // more of a\n    // about b\n    "b": 2\n  }\n}\n';

  it('removes the entry and its comma, and no comment', () => {
    expect(removeMember(text, ['s', 'a'])).toBe(
      '{\n  // all\n  "s": {\n    // about a\n    // more of a\n    // about b\n    "b": 2\n  }\n}\n',
    );
    expect(removeMember(text, ['s', 'b'])).toBe(
      '{\n  // all\n  "s": {\n    // about a\n    "a": {"x": 1} // more of a\n    // about b\n  }\n}\n',
    );
  });

  it('returns the text unchanged if there is no such member', () => {
    expect(removeMember(text, ['s', 'c'])).toBe(text);
  });

  it('works within one line', () => {
    expect(removeMember('{"a": 1, "b": 2, "c": 3}', ['b'])).toBe('{"a": 1, "c": 3}');
    expect(removeMember('{"a": 1, "b": 2}', ['b'])).toBe('{"a": 1}');
    expect(removeMember('{"a": 1}', ['a'])).toBe('{}');
  });
});

describe('any file', () => {
  const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,4}$/), { minLength: 0, maxLength: 5 });
  const layout = fc.record({
    eol: fc.constantFrom('\n', '\r\n'),
    unit: fc.constantFrom('  ', '    ', '\t'),
    trailing: fc.boolean(),
    flat: fc.boolean(),
    remarks: fc.array(fc.constantFrom('', ' // note', ' /* note */'), { minLength: 5, maxLength: 5 }),
  });
  const write = (keys: string[], { eol, unit, trailing, flat, remarks }: ReturnType<typeof sample>): string => {
    if (flat) return `{"servers": {${keys.map((key) => `"${key}": {"n": "${key}"}`).join(', ')}}}`;
    const lines = keys.map((key, i) => {
      const comma = i < keys.length - 1 || trailing ? ',' : '';
      return `${unit}${unit}"${key}": {"n": "${key}"}${comma}${remarks[i]}`;
    });
    return ['{', `${unit}// servers`, `${unit}"servers": {`, ...lines, `${unit}}`, '}'].join(eol);
  };
  const sample = () =>
    fc.sample(layout, 1)[0] as { eol: string; unit: string; trailing: boolean; flat: boolean; remarks: string[] };

  it('keeps every comment and every other entry when an entry is added and removed', () => {
    fc.assert(
      fc.property(names, layout, fc.stringMatching(/^[A-Z]{1,4}$/), (keys, style, added) => {
        const before = write(keys, style);
        const comments = before.match(/\/\/ \w+|\/\* \w+ \*\//g) ?? [];
        const after = setMember(before, ['servers', added], value);
        const servers = Object.fromEntries(keys.map((key) => [key, { n: key }]));
        expect(read(after)).toEqual({ servers: { ...servers, [added]: value } });
        expect(Object.keys((read(after) as { servers: object }).servers)).toEqual([...keys, added]);
        for (const key of keys) expect(after).toContain(`"${key}": {"n": "${key}"}`);
        expect(after.match(/\/\/ \w+|\/\* \w+ \*\//g) ?? []).toEqual(comments);
        const gone = removeMember(after, ['servers', added]);
        expect(read(gone)).toEqual({ servers });
        expect(gone.match(/\/\/ \w+|\/\* \w+ \*\//g) ?? []).toEqual(comments);
      }),
      { numRuns: 300 },
    );
  });
});
