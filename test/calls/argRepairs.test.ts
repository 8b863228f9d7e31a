import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repairArgs } from '../../src/calls/validation/argRepairs.ts';

const schema = {
  type: 'object',
  properties: {
    n: { type: 'integer' },
    x: { type: 'number' },
    b: { type: 'boolean' },
    z: { type: ['integer', 'null'] },
    s: { type: 'string' },
    any: {},
    inner: { type: 'object', properties: { n: { $ref: '#/properties/n' } } },
    list: { type: 'array', items: { type: 'integer' } },
    loop: { $ref: '#/properties/loop' },
  },
};

describe('argument repairs', () => {
  it('reach every depth and report each place', () => {
    const args = { inner: { n: '1' }, list: ['1', 2, 'x'], s: '1', any: '1', loop: '1' };
    expect(repairArgs(args, schema)).toEqual({
      args: { inner: { n: 1 }, list: [1, 2, 'x'], s: '1', any: '1', loop: '1' },
      repairs: [
        { path: '$.inner.n', rule: 'str_to_integer' },
        { path: '$.list[0]', rule: 'str_to_integer' },
      ],
    });
    expect(args).toEqual({ inner: { n: '1' }, list: ['1', 2, 'x'], s: '1', any: '1', loop: '1' });
  });

  it('parse arguments sent as text, and repair inside them', () => {
    expect(repairArgs('\ufeff {"n": "7"} ', schema)).toEqual({
      args: { n: 7 },
      repairs: [
        { path: '$', rule: 'parse_stringified_object' },
        { path: '$.n', rule: 'str_to_integer' },
      ],
    });
  });

  it.each([
    ['parse_stringified_object', '{}', {}, {}],
    ['str_to_integer', { n: '1' }, { n: 1 }, schema],
    ['str_to_number', { x: '1.5' }, { x: 1.5 }, schema],
    ['str_to_boolean', { b: 'true' }, { b: true }, schema],
    ['str_to_null', { z: 'null' }, { z: null }, schema],
  ])('%s reads %j as %j', (rule, args, meant, by) => {
    expect(repairArgs(args, by)).toMatchObject({ args: meant, repairs: [{ rule }] });
  });

  it('leave every text that may be one: a file URI stays unchanged in any field', () => {
    const path = { type: 'string', format: 'path', description: 'A path of the local file system.' };
    const args = { path: 'file:///tmp/a', Path: 'x', n: 1 };
    expect(repairArgs(args, { type: 'object', properties: { path, n: { type: 'integer' } } })).toEqual({
      args,
      repairs: [],
    });
  });

  it('never change the value of a number', () => {
    expect(repairArgs({ n: '9007199254740993' }, schema).repairs).toEqual([]);
  });

  it('do not read a key of the prototype as a field', () => {
    const args = JSON.parse('{"__proto__": {"n": "1"}, "constructor": "1"}');
    expect(
      repairArgs(args, {
        type: 'object',
        properties: JSON.parse('{"__proto__": {"properties": {"n": {"type": "integer"}}}}'),
      }).args,
    ).toEqual(JSON.parse('{"__proto__": {"n": 1}, "constructor": "1"}'));
    expect(({} as { n?: unknown }).n).toBeUndefined();
  });

  it('change nothing the second time, and never throw', () => {
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom('1', '-0', '1e3', 'true', 'null', '{"n":"1"}'));
    const object = fc.record({
      n: value,
      x: value,
      b: value,
      z: value,
      s: value,
      inner: fc.record({ n: value }),
      list: fc.array(value),
    });
    fc.assert(
      fc.property(fc.oneof(value, object), fc.oneof(fc.constant(schema), fc.jsonValue()), (args, anySchema) => {
        const once = repairArgs(args, anySchema);
        const twice = repairArgs(once.args, anySchema);
        expect(twice.args).toEqual(once.args);
        expect(twice.repairs).toEqual([]);
      }),
    );
  });
});
