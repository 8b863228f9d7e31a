import { isRecord } from '../../lib/isRecord.ts';
import { shortened } from '../../text/porcelain.ts';
import type { JsonObject } from '../json.ts';
import { resolvePointer } from './schemaProfile.ts';

/** Excerpt of a schema that explains a problem, small enough to read: long texts are cut and deep levels left out. */
const MAX_DEPTH = 4;
const MAX_KEYS = 40;
const MAX_OPTIONS = 30;
const MAX_TEXT = 120;
const PROSE = new Set(['description', 'title', '$comment', 'examples', 'markdownDescription', 'errorMessage']);
/** A root with all its arguments is more than a model needs. */
const MAX_CHARS = 1_500;

export function schemaFragment(schema: unknown, at: string): unknown {
  const part = resolvePointer(schema, at);
  if (part === undefined) return undefined;
  for (let depth = MAX_DEPTH; depth > 1; depth--) {
    const fragment = condensed(part, depth, depth === MAX_DEPTH);
    if (JSON.stringify(fragment).length <= MAX_CHARS) return fragment;
  }
  return outline(part);
}

function condensed(value: unknown, depth: number, withProse: boolean): unknown {
  if (typeof value === 'string') return shortened(value, MAX_TEXT);
  if (Array.isArray(value)) {
    if (depth === 0) return ['…'];
    const shown = value.slice(0, MAX_OPTIONS).map((item) => condensed(item, depth - 1, withProse));
    return value.length > shown.length ? [...shown, `… ${value.length - shown.length} more`] : shown;
  }
  if (!isRecord(value)) return value;
  if (depth === 0) return {};
  const entries = Object.entries(value).filter(
    ([key, child]) => withProse || !PROSE.has(key) || typeof child !== 'string',
  );
  const shown = entries
    .slice(0, MAX_KEYS)
    .map(([key, child]) => [key, condensed(child, depth - (key === 'properties' ? 0 : 1), withProse)]);
  if (entries.length > shown.length) shown.push(['…', `${entries.length - shown.length} more`]);
  return Object.fromEntries(shown);
}

/** Returns only names and types. */
function outline(part: unknown): JsonObject {
  if (!isRecord(part)) return {};
  const properties = isRecord(part.properties) ? part.properties : {};
  const names = Object.keys(properties);
  return {
    type: part.type,
    properties: names.slice(0, MAX_KEYS).map((name) => name.slice(0, 40)),
    ...(names.length > MAX_KEYS ? { more: names.length - MAX_KEYS } : {}),
    ...(Array.isArray(part.required) ? { required: part.required.slice(0, MAX_KEYS) } : {}),
  };
}
