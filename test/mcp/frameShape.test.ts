import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frameShape, withoutDepths } from '../../src/mcp/wire/frameShape.ts';

const shape = (text: string, depth?: number) => frameShape(Buffer.from(text), depth);

describe('the shape of a frame', () => {
  it.each([
    ['{"id":1,"id":2}', 'id'],
    ['{"id":1,"result":{},"result":{}}', 'result'],
    ['{"params":{"name":"a","arguments":{},"name":"b"}}', 'name'],
    ['{"result":{"isError":true,"isErro\\u0072":false}}', 'isError'],
    ['{"error":{"code":1,"code":2}}', 'code'],
    ['{"\\u0069d":1,"id":2}', 'id'],
    [' \n[{"id":1},{"id":2,"id":3}]', 'id'],
    ['[{"result":{"a":1,"a":2}}]', 'a'],
    ['{"a\\"b":1,"a\\"b":2}', 'a"b'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ])('of %s names the duplicate member', (text, name) => {
    expect(shape(text).duplicate).toBe(name);
  });

  it.each([
    '{"id":1,"ID":2}',
    '{"result":{"a":{"x":1,"x":2}}}',
    '{"other":{"x":1,"x":2}}',
    '{"result":{"a":"id"},"id":1}',
    '{"a":"b","b":"a"}',
    '{"a":"{\\"x\\":1,\\"x\\":2}"}',
    '{"params":["x","x"]}',
    '[{"id":1},{"id":1}]',
    '{"a":{"id":1},"b":{"id":1}}',
    '{"result":{"a":[{"x":1}],"x":1}}',
    '"',
    '{"a',
    '',
  ])('of %s has no duplicate', (text) => {
    expect(shape(text).duplicate).toBeUndefined();
  });

  it('has no duplicate in serialised output', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (result) => {
        const text = JSON.stringify({ jsonrpc: '2.0', id: 1, result });
        expect(shape(text)).toEqual({ duplicate: undefined, tooDeep: [] });
      }),
      { seed: 5, numRuns: 2_000 },
    );
  });

  it('has every inserted duplicate', () => {
    const names = fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 8 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(names, fc.nat(), fc.constantFrom('', 'params', 'result', 'error'), (members, nth, inner) => {
        const twice = members[nth % members.length] as string;
        const text = `{${[...members, twice].map((name) => `${JSON.stringify(name)}:[{"a":1}]`).join(',')}}`;
        expect(shape(inner === '' ? text : `{"${inner}":${text}}`).duplicate).toBe(twice);
      }),
      { seed: 6, numRuns: 1_000 },
    );
  });

  it('shows subtrees that nest too deep, and gives the frame without them', () => {
    const text = '{"a":[[1,{"b":2}],"]",[3]],"c":{"d":{"e":5}}}';
    const bytes = Buffer.from(text);
    expect(frameShape(bytes, 2).tooDeep.map(([from, to]) => text.slice(from, to))).toEqual([
      '[1,{"b":2}]',
      '[3]',
      '{"e":5}',
    ]);
    expect(JSON.parse(withoutDepths(bytes, frameShape(bytes, 2).tooDeep).toString())).toEqual({
      a: [null, ']', null],
      c: { d: null },
    });
    expect(frameShape(bytes, 4).tooDeep).toEqual([]);
  });

  it('has a million levels without a stack overflow', () => {
    const { tooDeep } = shape(`{"a":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`);
    expect(tooDeep).toHaveLength(1);
    expect(shape('['.repeat(1_000_000)).tooDeep).toEqual([]);
  });
});
