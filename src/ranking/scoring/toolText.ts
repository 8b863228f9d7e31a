import { isRecord } from '../../lib/isRecord.ts';

/** Searchable fields of a tool, in the order of `FIELDS`. */
export const FIELDS = [
  'name',
  'server',
  'title',
  'description',
  'arguments',
  'argument texts',
  'server text',
  'tags',
] as const;
export type FieldName = (typeof FIELDS)[number];

/** Weights of the fields in BM25F; chosen on the development halves of ten public sets, then rounded. */
export const FIELD_WEIGHTS: Readonly<Record<FieldName, number>> = {
  name: 3,
  server: 3,
  title: 1,
  description: 1,
  arguments: 0.5,
  'argument texts': 0.3,
  'server text': 0.3,
  tags: 0.3,
};

/** The beginning of a description identifies the tool; a whole manual (some have 10,000 tokens) adds nothing. */
const MAX_DESCRIPTION = 3_000;
const MAX_ARGUMENT_TEXT = 300;
const MAX_ARGUMENTS = 80;
const MAX_ENUM_VALUES = 24;
const MAX_DEPTH = 3;

export interface ArgumentWords {
  names: string[];
  texts: string[];
}

/**
 * Returns the argument names and texts of a schema. The schema is untrusted, so number, depth and length are limited.
 */
export function argumentWords(schema: unknown): ArgumentWords {
  const found: ArgumentWords = { names: [], texts: [] };
  collect(schema, 0, found);
  return found;
}

function collect(schema: unknown, depth: number, found: ArgumentWords): void {
  if (!isRecord(schema) || depth > MAX_DEPTH) return;
  if (isRecord(schema.properties)) {
    for (const name of Object.keys(schema.properties).sort()) {
      if (found.names.length >= MAX_ARGUMENTS) return;
      found.names.push(name);
      const property = schema.properties[name];
      if (!isRecord(property)) continue;
      if (typeof property.description === 'string') found.texts.push(property.description.slice(0, MAX_ARGUMENT_TEXT));
      if (Array.isArray(property.enum)) {
        for (const value of property.enum.slice(0, MAX_ENUM_VALUES))
          if (typeof value === 'string') found.texts.push(value);
      }
      collect(property, depth + 1, found);
    }
  }
  if (schema.items !== undefined) collect(schema.items, depth + 1, found);
  for (const key of ['anyOf', 'oneOf', 'allOf'] as const) {
    const variants = schema[key];
    if (Array.isArray(variants)) for (const variant of variants.slice(0, 8)) collect(variant, depth + 1, found);
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ' };

/** Prepares a description for the index: decodes entities, drops markup and addresses, keeps the beginning. */
export function readableDescription(description: string): string {
  return description
    .slice(0, MAX_DESCRIPTION)
    .replace(/&(amp|lt|gt|quot|nbsp);/g, (_, name: string) => ENTITIES[name] ?? ' ')
    .replace(/https?:\/\/[^\s)>\]]{0,300}/g, ' ');
}
