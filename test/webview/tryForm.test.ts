import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Draft,
  draftOf,
  emptyDraft,
  isSet,
  OTHERS,
  parseDraft,
  readDraft,
  withoutSecrets,
} from '../../webview/try/drafts.ts';
import {
  argumentsField,
  childField,
  type Field,
  fieldNames,
  itemField,
  MAX_CHOICES,
  takesOthers,
} from '../../webview/try/fields.ts';
import { defaultWords, exampleWords, optionWords, shown, typeWords } from '../../webview/try/words.ts';
import { sampleListings } from '../catalog/sampleListings.ts';
import { oddSchemas } from '../fixtures/catalog/oddSchemas.ts';
import schemaForms from '../fixtures/catalog/schemaForms.json' with { type: 'json' };

type Properties = Record<string, unknown>;

const form = (properties: Properties, more: object = {}): Field =>
  argumentsField({ type: 'object', properties, ...more });
const only = (schema: unknown, more: object = {}): Field => childField(form({ a: schema }, more), 'a');
const json = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** Visits every field to the depth at which the form ends, with all its words, as the page does. */
function visit(field: Field, visited: Field[] = []): Field[] {
  if (visited.length > 5_000) return visited;
  visited.push(field);
  for (const words of [typeWords(field), defaultWords(field), exampleWords(field)]) expect(words).not.toBe(null);
  for (const option of field.options.slice(0, 200)) expect(typeof optionWords(option)).toBe('string');
  expect(shown(field.schema.description).length).toBeLessThanOrEqual(2_001);
  if (field.kind === 'list') visit(itemField(field), visited);
  if (field.kind === 'object') {
    const { required, optional } = fieldNames(field);
    expect(typeof takesOthers(field)).toBe('boolean');
    for (const name of [...required, ...optional].slice(0, 300)) visit(childField(field, name), visited);
  }
  return visited;
}

/** Returns the default of each field as arguments would have it. */
function defaultsOf(field: Field): Record<string, unknown> {
  const { required, optional } = fieldNames(field);
  const members = [...required, ...optional].flatMap((name): [string, unknown][] => {
    const child = childField(field, name);
    if (child.kind === 'object') {
      const inner = defaultsOf(child);
      return Object.keys(inner).length > 0 ? [[name, inner]] : [];
    }
    return 'default' in child.schema ? [[name, child.schema.default]] : [];
  });
  return Object.fromEntries(members);
}

function expectRoundTrip(field: Field, value: unknown): void {
  const draft = draftOf(field, value);
  expect(readDraft(field, draft)).toEqual({ value, problems: [] });
  expect(parseDraft(json(draft))).toEqual(json(draft));
}

const tools = sampleListings().flatMap(({ tools }) => tools as { inputSchema: unknown }[]);

describe('the form of a tool', () => {
  it.each(Object.entries(schemaForms.usable))('shows %s and brings its defaults back', (_, schema) => {
    const field = argumentsField(schema);
    visit(field);
    expectRoundTrip(field, defaultsOf(field));
  });

  it('shows every definition of real servers and brings its defaults back', () => {
    expect(tools.length).toBeGreaterThan(700);
    for (const { inputSchema } of tools) {
      const field = argumentsField(inputSchema);
      expect(field.kind).toBe('object');
      visit(field);
      expectRoundTrip(field, json(defaultsOf(field)));
      expect(readDraft(field, emptyDraft(field)).problems).toEqual([]);
    }
  });

  it.each(Object.entries(oddSchemas()))('survives %s', (_, schema) => {
    const field = argumentsField(schema);
    expect(field.kind).toBe('object');
    for (const { name, entries, kind } of visit(field)) {
      expect(typeof name).toBe('string');
      if (kind === 'typed') expect(entries.length).toBeGreaterThan(0);
    }
    expect(readDraft(field, emptyDraft(field)).problems).toEqual([]);
    // Any arguments can be given, as JSON where no field fits.
    const { required, optional } = fieldNames(field);
    const names = [...required, ...optional].slice(0, 50);
    for (const value of [null, 7, 'x', [], [[1]], { a: { b: [] } }])
      expectRoundTrip(field, Object.fromEntries([...names, 'another'].map((name) => [name, value])));
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('asks for a property by its type', () => {
    const kinds = (schema: unknown) => {
      const { kind, entries, nullable } = only(schema);
      return [kind, entries.join(), nullable];
    };
    expect(kinds({ type: 'string' })).toEqual(['typed', 'text', false]);
    expect(kinds({ type: 'integer' })).toEqual(['typed', 'number', false]);
    expect(kinds({ type: 'boolean' })).toEqual(['choice', '', false]);
    expect(kinds({ type: ['string', 'null'] })).toEqual(['typed', 'text', true]);
    expect(kinds({ type: ['number', 'string', 'boolean', 'null'] })).toEqual(['typed', 'text,number,json', true]);
    expect(kinds({ type: ['object', 'null'], properties: { b: {} } })).toEqual(['object', '', true]);
    expect(kinds({ anyOf: [{ type: 'string' }, { type: 'null' }] })).toEqual(['typed', 'text', true]);
    expect(kinds({ anyOf: [{ type: 'array' }, { type: 'string' }] })).toEqual(['typed', 'text,json', false]);
    expect(kinds({ oneOf: [{ type: 'object', properties: { b: {} } }, { type: 'object' }] })).toEqual([
      'typed',
      'json',
      false,
    ]);
    expect(kinds({ type: 'array', items: { type: 'string' } })).toEqual(['list', '', false]);
    expect(kinds({ type: 'array' })).toEqual(['typed', 'json', false]);
    expect(kinds({ type: 'array', prefixItems: [{}], items: {} })).toEqual(['typed', 'json', false]);
    expect(kinds({ type: 'object', additionalProperties: { type: 'string' } })).toEqual(['typed', 'json', false]);
    for (const schema of [true, false, null, 7, 'text', [], {}, { description: 'anything' }, { type: 'color' }])
      expect(kinds(schema)).toEqual(['typed', 'json', false]);
  });

  it('offers values to choose from, and many as suggestions', () => {
    expect(only({ enum: ['a', 'b', 'a', null] })).toMatchObject({
      kind: 'choice',
      options: ['a', 'b'],
      nullable: true,
    });
    expect(only({ anyOf: [{ const: 1 }, { const: '1' }, { enum: ['x'] }] })).toMatchObject({
      kind: 'choice',
      options: [1, '1', 'x'],
    });
    const many = Array.from({ length: MAX_CHOICES + 1 }, (_, index) => `v${index}`);
    expect(only({ enum: many })).toMatchObject({ kind: 'typed', entries: ['text'], options: many });
    expect(only({ enum: many.map((_, index) => index) })).toMatchObject({ kind: 'typed', entries: ['number'] });
    expect(only({ anyOf: [{ type: 'string' }, { enum: ['x'] }] })).toMatchObject({ entries: ['text', 'json'] });
    expect(only({ enum: [] })).toMatchObject({ kind: 'typed', entries: ['json'] });
    expect(['null', '', ' ', '5', 'five', 5, null].map(optionWords)).toEqual([
      '"null"',
      '""',
      '" "',
      '"5"',
      'five',
      '5',
      'null',
    ]);
  });

  it('follows local references, and asks for JSON where one leads nowhere or back', () => {
    const root = {
      type: 'object',
      properties: {
        start: { $ref: '#/$defs/day', description: 'First day' },
        end: { $ref: '#/properties/start' },
        tree: { $ref: '#/$defs/tree' },
        self: { $ref: '#' },
        lost: { $ref: '#/$defs/none' },
        remote: { $ref: 'https://example.org/schema' },
        escaped: { $ref: '#/$defs/a~1b%25' },
      },
      $defs: {
        day: { type: 'string', format: 'date' },
        tree: { type: 'object', properties: { left: { $ref: '#/$defs/tree' }, label: { type: 'string' } } },
        'a/b%': { type: 'integer' },
      },
    };
    const field = argumentsField(root);
    const at = (name: string) => childField(field, name);
    expect(at('end').schema).toMatchObject({ type: 'string', format: 'date', description: 'First day' });
    expect(childField(at('tree'), 'left').entries).toEqual(['json']);
    expect(childField(at('tree'), 'label').entries).toEqual(['text']);
    for (const name of ['self', 'lost', 'remote']) expect(at(name).entries).toEqual(['json']);
    expect(at('escaped').entries).toEqual(['number']);
  });

  it('asks for objects to the fourth level, and for JSON below', () => {
    const nested = (levels: number): object =>
      levels === 0 ? { type: 'string' } : { type: 'object', properties: { a: nested(levels - 1) } };
    let field = argumentsField(nested(7));
    const kinds: string[] = [];
    while (field.kind === 'object') {
      field = childField(field, 'a');
      kinds.push(field.kind);
    }
    expect(kinds).toEqual(['object', 'object', 'object', 'object', 'typed']);
    expectRoundTrip(argumentsField(nested(7)), { a: { a: { a: { a: { a: { a: { a: 'deep' } } } } } } });
  });

  it('leaves out what was not touched, and defaults too', () => {
    const field = form(
      { a: { type: 'string', default: 'x' }, b: { type: 'object', properties: { c: { type: 'string' } } } },
      { required: ['b'] },
    );
    expect(readDraft(field, emptyDraft(field))).toEqual({ value: { b: {} }, problems: [] });
    expect(defaultWords(childField(field, 'a'))).toBe('x');
  });

  it('sends the only value of a required field, and none that an older call did not have', () => {
    const shape = {
      type: 'object',
      properties: { type: { const: 'line' }, to: { type: 'number' } },
      required: ['type'],
    };
    const field = form({ shape });
    expect(readDraft(field, emptyDraft(field)).value).toEqual({});
    const entries = [['to', { kind: 'typed', entry: 'number', text: '3' }]] as const;
    const draft: Draft = {
      kind: 'object',
      entries: [['shape', { kind: 'object', entries, others: '' }]],
      others: '',
    };
    expect(readDraft(field, draft).value).toEqual({ shape: { type: 'line', to: 3 } });
    expectRoundTrip(field, { shape: { to: 3 } });
  });

  it('keeps null, an empty text and an empty list apart from nothing', () => {
    const field = form({
      t: { type: 'string' },
      l: { type: 'array', items: {} },
      n: { type: 'integer' },
      o: shapeless,
    });
    for (const value of [{}, { t: '' }, { t: null }, { l: [] }, { l: null, n: 0, o: {} }])
      expectRoundTrip(field, value);
  });
  const shapeless = { type: 'object', properties: { x: {} } };

  it('reports a text that is no value, and does not replace it by another', () => {
    const field = form({ n: { type: 'number' }, j: {}, l: { type: 'array', items: { type: 'string' } } });
    const typed = (entry: 'number' | 'json', text: string): Draft => ({ kind: 'typed', entry, text });
    const problems = (name: string, entry: Draft) =>
      readDraft(field, { kind: 'object', entries: [[name, entry]], others: '' }).problems;
    for (const text of ['', 'x', '1,5', '01', '+1', '0x10', 'NaN', '1e999', '12345678901234567890'])
      expect(
        problems('n', typed('number', text)).map(({ path }) => path),
        text,
      ).toEqual([['n']]);
    for (const text of ['', '{', '{"a": 1,}', "{'a': 1}", '[9007199254740993]', '1e999'])
      expect(
        problems('j', typed('json', text)).map(({ path }) => path),
        text,
      ).toEqual([['j']]);
    expect(problems('j', typed('json', '["12345678901234567890", 100000000000000000000]'))).toEqual([]);
    expect(problems('l', { kind: 'list', items: [{ kind: 'unset' }] })).toEqual([
      { path: ['l', '0'], message: 'Item 1 is empty: fill it in, or remove it.' },
    ]);
    const others = (text: string) => readDraft(field, { kind: 'object', entries: [], others: text });
    expect(others('[1]').problems).toEqual([{ path: [OTHERS], message: 'Write a JSON object: {"name": value}.' }]);
    expect(others('{"z": 1}')).toEqual({ value: { z: 1 }, problems: [] });
  });

  it('brings any arguments back, whatever the schema says', () => {
    const word = fc.oneof(fc.constantFrom('a', 'b', 'type', '__proto__', 'constructor', 'toString', ''), fc.string());
    const { schema } = fc.letrec<{ schema: unknown }>((tie) => ({
      schema: fc.oneof(
        { maxDepth: 5, depthSize: 'small' },
        fc.jsonValue(),
        fc.constantFrom(true, false, null, { $ref: '#' }, { $ref: '#/properties/a' }, { $ref: '#/$defs/b' }),
        fc.record({ type: fc.oneof(fc.constantFrom('string', 'integer', 'boolean', 'null', 'array'), fc.jsonValue()) }),
        fc.record({ enum: fc.array(fc.jsonValue(), { maxLength: 4 }) }),
        fc.record({ const: fc.jsonValue() }),
        fc.record({ type: fc.constant('array'), items: tie('schema') }),
        fc.record({ anyOf: fc.array(tie('schema'), { maxLength: 3 }) }),
        fc.record(
          {
            type: fc.constant('object'),
            properties: fc.dictionary(word, tie('schema'), { maxKeys: 4, noNullPrototype: true }),
            required: fc.array(word, { maxLength: 3 }),
            $defs: fc.dictionary(word, tie('schema'), { maxKeys: 2, noNullPrototype: true }),
            oneOf: fc.array(tie('schema'), { maxLength: 2 }),
            allOf: fc.array(tie('schema'), { maxLength: 2 }),
          },
          { requiredKeys: ['type', 'properties'], noNullPrototype: true },
        ),
      ),
    }));
    const args = fc.dictionary(word, fc.jsonValue(), { maxKeys: 5, noNullPrototype: true });
    fc.assert(
      fc.property(schema, args, (definition, value) => {
        const field = argumentsField(json({ definition }).definition);
        visit(field);
        expectRoundTrip(field, json(value));
      }),
      { numRuns: 2_000 },
    );
  });

  it('survives schemas that are none: circular, enormous, or about the prototype', () => {
    const circular: Record<string, unknown> = { type: 'object' };
    circular.properties = { again: circular, list: { type: 'array', items: circular } };
    circular.default = circular;
    visit(argumentsField(circular));
    const looped: Record<string, unknown> = {};
    looped.anyOf = [looped];
    visit(argumentsField(looped));
    visit(argumentsField({ $ref: '#' }));
    visit(argumentsField({ properties: { a: { $ref: '#/properties/b' }, b: { $ref: '#/properties/a' } } }));
    const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`p${index}`, { type: 'string' }]));
    const field = form(wide, { required: Object.keys(wide) });
    expect(fieldNames(field).required.length).toBe(10_000);
    expectRoundTrip(field, Object.fromEntries(Object.keys(wide).map((name) => [name, name])));
    visit(only({ enum: Array.from({ length: 100_000 }, (_, index) => `value ${index}`) }));
    const proto = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"object","properties":{"__proto__":{}}}},"required":["__proto__","hasOwnProperty"]}',
    );
    const own = argumentsField(proto);
    expect(fieldNames(own)).toEqual({ required: ['__proto__', 'hasOwnProperty'], optional: ['constructor'] });
    expectRoundTrip(own, JSON.parse('{"__proto__":"x","constructor":{"__proto__":{"polluted":1}},"toString":1}'));
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    for (const schema of [true, false, [], 'x', 1, null, undefined]) {
      expect(fieldNames(argumentsField(schema))).toEqual({ required: [], optional: [] });
      expectRoundTrip(argumentsField(schema), { any: [1] });
    }
  });

  it('says type, range and pattern beside the label', () => {
    const words = (schema: object) => typeWords(only(schema));
    expect(words({ type: 'integer', minimum: 1, maximum: 100 })).toBe('whole number, 1 to 100');
    expect(words({ type: 'string', minLength: 1, pattern: '^a+$', format: 'uri' })).toBe(
      'text, at least 1 character, uri, pattern ^a+$',
    );
    expect(words({ type: ['number', 'null'], exclusiveMinimum: 0, multipleOf: 5 })).toBe(
      'number or null, more than 0, multiple of 5',
    );
    expect(words({ type: 'integer', maximum: 9007199254740991 })).toBe('whole number');
    expect(words({ type: 'array', items: {}, maxItems: 3 })).toBe('list, at most 3 items');
    expect(words({ type: 'array', items: {}, minItems: 1, maxItems: 1 })).toBe('list, 1 item');
    expect(words({ type: 'string', maxLength: 11 })).toBe('text, at most 11 characters');
    expect(words({})).toBe('JSON');
  });

  it('keeps no secret in the state', () => {
    const field = form({
      api_key: { type: 'string' },
      plain: { type: 'string' },
      pin: { type: 'string', format: 'password' },
      key: { type: 'string' },
      login: { type: 'object', properties: { user: { type: 'string' }, password: { type: 'string' } } },
      tokens: { type: 'array', items: { type: 'string' } },
      any: {},
      credentials: { type: 'object', properties: { user: { type: 'string' } } },
    });
    const secret = 'hunter2-9f8a7c6d';
    const value = {
      api_key: secret,
      plain: 'kept',
      pin: secret,
      key: secret,
      login: { user: 'ada', password: secret },
      tokens: [secret],
      any: { nested: { client_secret: secret } },
      credentials: { user: secret },
      unknown_password: secret,
    };
    const kept = withoutSecrets(field, draftOf(field, value));
    expect(JSON.stringify(kept)).not.toContain(secret);
    expect(readDraft(field, kept).value).toEqual({ plain: 'kept', login: { user: 'ada' } });
    const unfinished: Draft = { kind: 'typed', entry: 'json', text: `{"password": "${secret}` };
    const broken: Draft = { kind: 'object', entries: [['any', unfinished]], others: '' };
    expect(JSON.stringify(withoutSecrets(field, broken))).not.toContain(secret);
  });

  it('reads no draft from a state that has none', () => {
    for (const kept of [undefined, null, 1, {}, { kind: 'typed' }, { kind: 'object', entries: [[1]], others: '' }])
      expect(parseDraft(kept)).toBeUndefined();
    expect(isSet({ kind: 'object', entries: [['a', { kind: 'unset' }]], others: '' })).toBe(false);
  });
});
