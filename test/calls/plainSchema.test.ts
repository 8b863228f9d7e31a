import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { isPlainSchema } from '../../src/calls/validation/plainSchema.ts';
import { PseudoRandom } from '../support/pseudoRandom.ts';

const KEYWORDS = [
  ...['type', 'title', 'description', 'default', 'const', 'examples', 'enum', 'required', 'minimum', 'maximum'],
  ...['minLength', 'maxLength', 'minItems', 'maxItems', 'readOnly', 'properties', 'items', 'additionalProperties'],
  ...['anyOf', 'oneOf', 'allOf', 'format', '$ref', 'pattern', 'x-own'],
];
const SIMPLE = ['string', 'object', 'strin', '', 0, 1, -1, 1.5, true, false, null, [], ['a'], ['a', 'a'], ['a', 1], {}];

const random = new PseudoRandom(42);

/** Makes a value that may be a schema, a list of schemas or something else. */
function anything(levels: number): unknown {
  const kind = random.next();
  if (levels === 0 || kind < 0.5) return random.pick(SIMPLE);
  if (kind < 0.6) return Array.from({ length: random.below(3) }, () => anything(levels - 1));
  return Object.fromEntries(
    Array.from({ length: random.below(4) }, () => [random.pick(KEYWORDS), anything(levels - 1)]),
  );
}

describe('a plain schema', () => {
  const options = { strict: false, logger: false } as const;
  const dialects = [new Ajv(options), new Ajv2020(options)];
  const isValid = (schema: object) => dialects.every((ajv) => ajv.validateSchema(schema) === true);

  it('is valid by the meta-schemas of both dialects, whatever it holds', () => {
    let plain = 0;
    for (let i = 0; i < 30_000; i++) {
      const schema = anything(3);
      if (!isPlainSchema(schema)) continue;
      plain += 1;
      if (!isValid(schema as object)) expect.fail(JSON.stringify(schema));
    }
    expect(plain).toBeGreaterThan(500);
  });

  it('is the usual schema of a tool', () => {
    const properties = {
      path: { type: 'string', description: 'A path', minLength: 1 },
      lines: { type: 'integer', minimum: 1, default: 10 },
      kinds: { type: 'array', items: { enum: ['a', 'b'] }, maxItems: 2 },
      any: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    };
    expect(isPlainSchema({ type: 'object', properties, required: ['path'], additionalProperties: false })).toBe(true);
  });

  it.each([
    ['a reference', { $ref: '#/$defs/a' }],
    ['a flaw far inside', { type: 'object', properties: { a: { items: { type: 'strin' } } } }],
    ['a list of items, which one dialect has', { items: [{ type: 'string' }] }],
    ['a boolean as the whole', true],
    ['endless nesting', JSON.parse(`${'{"items":'.repeat(5_000)}{}${'}'.repeat(5_000)}`)],
  ])('has no %s', (_, schema) => {
    expect(isPlainSchema(schema)).toBe(false);
  });
});
