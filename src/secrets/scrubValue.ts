import { maskKnown, scrubPieces } from './mask.ts';
import { isSecretValue, secretName } from './names.ts';

/**
 * Masks the secrets of a JSON value, in its names too. The structure stays; only texts and numbers change. All texts are
 * searched at once, because a search has a fixed cost however short the text is. `from` is as in `scrubSecrets`.
 */
export function scrubValue(value: unknown, from?: string): unknown {
  const collected = new Collected();
  collected.add(value);
  const scrubbed = scrubPieces(collected.pieces, collected.named, from);
  return scrubbed === collected.pieces ? value : rebuilt(value, scrubbed.values());
}

/** Masks the known values in the texts of a JSON value, as `maskKnown` does. Returns `value` itself where there are none. */
export function maskKnownValue(value: unknown): unknown {
  if (typeof value === 'string') return maskKnown(value);
  if (Array.isArray(value)) {
    const items = value.map(maskKnownValue);
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, member]) => [maskKnown(key), maskKnownValue(member)] as const);
  return members.every(([key, member]) => Object.hasOwn(value, key) && value[key] === member)
    ? value
    : Object.fromEntries(members);
}

class Collected {
  readonly pieces: string[] = [];
  /** Values under a secret name. The text around them does not matter here. */
  readonly named: { start: number; end: number }[] = [];
  #length = 0;

  add(value: unknown, name?: string): void {
    if (isText(value)) {
      const text = String(value);
      const secret = name === undefined ? undefined : secretName(name);
      if (secret && isSecretValue(secret, text, 'quoted')) {
        this.named.push({ start: this.#length, end: this.#length + text.length });
      }
      this.#push(text);
      this.#push('\n');
    } else if (Array.isArray(value)) {
      for (const item of value) this.add(item);
    } else if (isObject(value)) {
      for (const [key, member] of Object.entries(value)) {
        this.#push(key);
        this.#push(isText(member) ? ': ' : '\n');
        this.add(member, key);
      }
    }
  }

  #push(piece: string): void {
    this.pieces.push(piece);
    this.#length += piece.length;
  }
}

/** Takes the pieces in the order in which they were collected. */
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
  if (Array.isArray(value)) return value.map((item) => rebuilt(item, scrubbed));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([, member]) => [next(), rebuilt(member, scrubbed)]));
}

function isText(value: unknown): value is string | number {
  return typeof value === 'string' || typeof value === 'number';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
