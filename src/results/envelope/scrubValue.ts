import { scrubPieces } from '../../secrets/mask.ts';
import { isObject } from './resultParts.ts';

/**
 * Masks secrets in a JSON value, also in names. The form stays: only texts and numbers change. All of it is searched at
 * once, because each search has a fixed cost.
 */
export function scrubValue(value: unknown): unknown {
  const pieces: string[] = [];
  collect(value, pieces);
  const scrubbed = scrubPieces(pieces);
  return scrubbed === pieces ? value : rebuilt(value, scrubbed.values());
}

/** Collects the pieces in the order of a text: some values are secrets only because of the name before them. */
function collect(value: unknown, pieces: string[]): void {
  if (isText(value)) pieces.push(String(value), '\n');
  else if (Array.isArray(value)) for (const one of value) collect(one, pieces);
  else if (isObject(value)) {
    for (const [name, one] of Object.entries(value)) {
      pieces.push(name, isText(one) ? ': ' : '\n');
      collect(one, pieces);
    }
  }
}

/** Rebuilds the value from the pieces, in the order of collection. */
function rebuilt(value: unknown, scrubbed: Iterator<string, undefined>): unknown {
  const next = (): string => {
    const text = scrubbed.next().value ?? '';
    scrubbed.next();
    return text;
  };
  if (isText(value)) {
    const text = next();
    return text === String(value) ? value : text;
  }
  if (Array.isArray(value)) return value.map((one) => rebuilt(one, scrubbed));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([, one]) => [next(), rebuilt(one, scrubbed)]));
}

function isText(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}
