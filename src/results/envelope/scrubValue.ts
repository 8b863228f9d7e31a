import { scrubPieces } from '../../secrets/mask.ts';
import { isObject } from './resultParts.ts';

/**
 * A value of JSON with its secrets masked wherever they stand, in names too. Its form stays: only texts and numbers
 * change. All of it is searched at once, since a search has its price however short the text is.
 */
export function scrubValue(value: unknown): unknown {
  const pieces: string[] = [];
  collect(value, pieces);
  const scrubbed = scrubPieces(pieces);
  return scrubbed === pieces ? value : rebuilt(value, scrubbed.values());
}

/** As a text would have it: some values are known for secrets by the names before them alone. */
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

/** Takes the pieces in the order in which they were told. */
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
