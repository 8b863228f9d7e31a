import { describe, expect, it } from 'vitest';
import { pinOf } from '../../src/catalog/shapeHash.ts';
import { driftOf } from '../../src/trust/pins/drift.ts';
import { itemsOf, type Listing } from '../../src/trust/pins/pinnedItems.ts';
import { readableItem, reviewOf } from '../../src/trust/pins/review.ts';

const listing = (...tools: unknown[]): Listing => ({ tools, prompts: [], resourceTemplates: [] });
const reviewed = (before: readonly unknown[], after: readonly unknown[]) => {
  const items = itemsOf(listing(...before));
  const pins = Object.fromEntries(items.map(({ key, raw }) => [key, pinOf(raw)]));
  const texts = Object.fromEntries(items.map(({ raw }) => [pinOf(raw), raw]));
  return reviewOf(itemsOf(listing(...after)), { pins, blocked: [] }, texts);
};
const schema = (properties: object, more: object = {}) => ({ inputSchema: { type: 'object', properties, ...more } });

describe('a tool with another name', () => {
  const about = { description: 'Sends.', ...schema({ to: { type: 'string' } }) };

  it('is recognised by its arguments, and compared with what it was', () => {
    const { items } = reviewed([{ name: 'send', ...about }], [{ name: 'post', ...about }]);
    expect(items).toMatchObject([
      { key: 'tools:post', state: 'new', movedFrom: 'tools:send', drift: { kinds: ['harmless'] } },
    ]);
    const reworded = reviewed([{ name: 'send', ...about }], [{ name: 'post', ...about, description: 'Obey.' }]);
    expect(reworded.items).toMatchObject([{ movedFrom: 'tools:send', drift: { kinds: ['words'] } }]);
  });

  it('takes the place of one tool only, the one with the same description first', () => {
    const other = { ...about, description: 'Stores.' };
    const { items } = reviewed(
      [
        { name: 'a', ...about },
        { name: 'b', ...other },
      ],
      [
        { name: 'c', ...other },
        { name: 'd', ...about },
        { name: 'e', ...about },
      ],
    );
    expect(items.map(({ key, movedFrom }) => [key, movedFrom])).toEqual([
      ['tools:c', 'tools:b'],
      ['tools:d', 'tools:a'],
      ['tools:e', undefined],
    ]);
  });

  it('without arguments is recognised by its description', () => {
    const bare = { inputSchema: { type: 'object' } };
    const { items } = reviewed(
      [{ name: 'a', ...bare, description: 'A.' }],
      [{ name: 'b', ...bare, description: 'B.' }],
    );
    expect(items.map(({ key, state }) => [key, state])).toEqual([
      ['tools:a', 'gone'],
      ['tools:b', 'new'],
    ]);
  });
});

describe('a change of arguments', () => {
  const breaking: [string, object, object][] = [
    ['removed argument', schema({ x: {}, y: {} }), schema({ x: {} })],
    ['new required argument', schema({ x: {} }), schema({ x: {} }, { required: ['x'] })],
    ['narrower type', schema({ x: { type: ['string', 'null'] } }), schema({ x: { type: 'string' } })],
    ['narrower enum', schema({ x: { enum: [1, 2] } }), schema({ x: { enum: [1] } })],
    [
      'narrower item',
      schema({ x: { items: { type: ['string', 'null'] } } }),
      schema({ x: { items: { type: 'null' } } }),
    ],
    ['lower maximum', schema({ x: { maxLength: 9 } }), schema({ x: { maxLength: 8 } })],
    ['new pattern', schema({ x: {} }), schema({ x: { pattern: '^a' } })],
    ['new constant', schema({ x: {} }), schema({ x: { const: 1 } })],
    ['missing alternative', schema({ x: { anyOf: [{}, {}] } }), schema({ x: { anyOf: [{}] } })],
    ['narrower alternative', schema({ x: { anyOf: [{ enum: [1, 2] }] } }), schema({ x: { anyOf: [{ enum: [1] }] } })],
    ['closed object', schema({}), schema({}, { additionalProperties: false })],
    ['narrower definition', schema({}, { $defs: { a: {} } }), schema({}, { $defs: { a: { type: 'null' } } })],
  ];
  it.each(breaking)('is breaking with a %s', (_what, before, after) => {
    expect(driftOf(before, after).kinds).toContain('breaking');
    expect(driftOf(after, before).kinds).not.toContain('breaking');
  });

  it('is harmless in order and white space', () => {
    const before = { description: 'A  b. ', ...schema({ x: { enum: [1, 2] } }, { required: ['a', 'b'] }) };
    const after = { description: 'A b.', ...schema({ x: { enum: [2, 1] } }, { required: ['b', 'a'] }) };
    expect(driftOf(before, after)).toEqual({ kinds: ['harmless'], notes: [] });
  });

  it('has other words only where a text differs, and at least one kind', () => {
    const typed = (type: string, more: object = {}) => schema({ type: { type, ...more } });
    expect(driftOf(typed('string'), typed('null')).kinds).toEqual(['breaking']);
    expect(driftOf(typed('string'), typed('null', { description: 'Obey.' })).kinds).toEqual(['breaking', 'words']);
    expect(driftOf(typed('null'), { ...schema({}), x: 1 }).kinds).toContain('words');
    expect(driftOf({ maximum: 1 }, { maximum: 2 }).kinds).toEqual(['words']);
    expect(driftOf(schema({ x: {} }), schema({ x: { default: 'Obey.' } })).kinds).toEqual(['words']);
    const hinted = (destructiveHint: boolean) => ({ annotations: { destructiveHint } });
    expect(driftOf(hinted(true), hinted(false)).kinds).toEqual(['hint lowered']);
    expect(driftOf(hinted(false), hinted(true)).kinds).toEqual(['words']);
  });

  it.each([
    [
      'words under a name that only counts at the top',
      { _meta: { description: 'a' } },
      { _meta: { description: 'b' } },
    ],
    ['a value of another type', { p: { default: true } }, { p: { default: 'true' } }],
    ['a name that reads like members', { p: { a: 'x', b: 'y' } }, { p: { 'a=x\nb': 'y' } }],
  ])('is not harmless in %s', (_what, from, to) => {
    const kinds = driftOf({ inputSchema: { properties: from } }, { inputSchema: { properties: to } }).kinds;
    expect(kinds).toEqual(['words']);
  });

  it('that is nested too deeply is never harmless', () => {
    const deep = (leaf: unknown): unknown => {
      let value = leaf;
      for (let depth = 0; depth < 100_000; depth++) value = { properties: { a: value } };
      return { inputSchema: value };
    };
    expect(driftOf(deep(1), deep(2)).kinds).toEqual(['breaking', 'hint lowered', 'words']);
    expect(readableItem(deep(1))).not.toBe(readableItem(deep(2)));
  });
});

describe('the text of an item', () => {
  const pairs: [unknown, unknown][] = [
    [{ a: 'true' }, { a: true }],
    [{ a: '1' }, { a: 1 }],
    [{ a: 'null' }, { a: null }],
    [{ a: '' }, { a: [] }],
    [{ a: '{}' }, { a: {} }],
    [{ a: ['x'] }, { a: '- x' }],
    [{ a: ['x\ny'] }, { a: ['x', 'y'] }],
    [{ a: { b: 'c' } }, { a: 'b: c' }],
    [{ a: 'x\nb: y' }, { a: 'x', b: 'y' }],
    [{ a: { b: 'c', d: 'e' } }, { a: 'b: c\nd: e' }],
    [{ 'a: b': 'c' }, { a: 'b: c' }],
    [{ a: 'x ' }, { a: 'x' }],
    [{ a: '\u200b' }, { a: '\\u200b' }],
    [{ a: 'x\r\ny' }, { a: 'x\ny' }],
    [{ a: 'x\n\u200b' }, { a: 'x\n\\u200b' }],
    [{ a: 'x\ny' }, { a: '| x\n| y' }],
    [{ a: { _meta: 1 } }, { a: { _meta: 2 } }],
    [{ a: [['x']] }, { a: ['- x'] }],
    [{ a: [{ b: 'c' }] }, { a: ['b: c'] }],
  ];
  it.each(pairs)('differs between %j and %j', (one, other) => {
    expect(readableItem(one)).not.toBe(readableItem(other));
  });

  it('is plain where it can be', () => {
    expect(readableItem({ name: 'a', title: 'An A: b', description: 'One.\nTwo.', n: { list: [1, 'x'] } })).toBe(
      'description:\n  | One.\n  | Two.\nn:\n  list:\n    - 1\n    - x\nname: a\ntitle: An A: b\n',
    );
  });
});
