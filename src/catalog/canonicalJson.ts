import { compareCodePoints } from './codePointOrder.ts';

/**
 * Canonical JSON, byte for byte as Python's `json.dumps(value, sort_keys=True, separators=(",", ":"))` (G1.12): keys by
 * code point, everything beyond printable ASCII as `\uXXXX`. Iterative, so that no nesting is too deep.
 */
export function canonicalJson(root: unknown): string {
  const parts: string[] = [];
  const work: Work[] = [{ value: root }];
  while (work.length > 0) {
    const next = work.pop() as Work;
    if ('text' in next) parts.push(next.text);
    else emit(next.value, parts, work);
  }
  return parts.join('');
}

/** Encodes one string as canonical JSON. */
export function canonicalString(text: string): string {
  if (NEEDS_NO_ESCAPE.test(text)) return `"${text}"`;
  const json = JSON.stringify(text);
  return BEYOND_ASCII.test(json) ? json.replaceAll(EACH_BEYOND_ASCII, escapeUnit) : json;
}

type Work = { value: unknown } | { text: string };

const NEEDS_NO_ESCAPE = /^[ !#-[\]-~]*$/;
// U+007F as well: Python escapes it, JSON.stringify does not.
const BEYOND_ASCII = /[\x7f-\uffff]/;
const EACH_BEYOND_ASCII = /[\x7f-\uffff]/g;

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function emit(value: unknown, parts: string[], work: Work[]): void {
  if (typeof value === 'string') parts.push(canonicalString(value));
  else if (typeof value === 'number') parts.push(canonicalNumber(value));
  else if (typeof value === 'boolean') parts.push(value ? 'true' : 'false');
  else if (Array.isArray(value)) emitArray(value, parts, work);
  else if (value !== null && typeof value === 'object') emitObject(value as Record<string, unknown>, parts, work);
  else parts.push('null');
}

/** The rest of the container goes on the stack in reverse, so that it comes off in order. */
function emitArray(items: readonly unknown[], parts: string[], work: Work[]): void {
  parts.push('[');
  work.push({ text: ']' });
  for (let i = items.length - 1; i >= 0; i--) {
    work.push({ value: items[i] });
    if (i > 0) work.push({ text: ',' });
  }
}

function emitObject(object: Record<string, unknown>, parts: string[], work: Work[]): void {
  const keys = Object.keys(object)
    .filter((key) => object[key] !== undefined)
    .sort(compareCodePoints);
  parts.push('{');
  work.push({ text: '}' });
  for (let i = keys.length - 1; i >= 0; i--) {
    const key = keys[i] as string;
    work.push({ value: object[key] }, { text: `${i > 0 ? ',' : ''}${canonicalString(key)}:` });
  }
}

/** Python writes integers in full, and floats with an exponent from 1e16 up and below 1e-4. */
function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) return 'null';
  if (Number.isInteger(value)) return Math.abs(value) < 1e21 ? BigInt(value).toString() : String(value);
  const magnitude = Math.abs(value);
  if (magnitude >= 1e-4) return String(value);
  const [mantissa, exponent] = value.toExponential().split('e-') as [string, string];
  return `${mantissa}e-${exponent.padStart(2, '0')}`;
}
