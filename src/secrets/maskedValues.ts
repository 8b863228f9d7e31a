import { createHmac, randomBytes, randomInt } from 'node:crypto';
import { FormBegins, formsOf } from './knownSecrets.ts';
import { isRandom } from './shapes.ts';

/** Ordinary texts contain shorter values by chance. */
const MIN_CHARS = 8;
const MIN_DIGITS = 12;
/** A longer secret, such as a private key, is recognised by its form. */
const MAX_CHARS = 512;
/** Two of these are kept: a full one replaces the one before. */
const MAX_VALUES = 128;

/** Place of a masked value in a text, with the servers in whose texts it was masked. */
export interface MaskedPlace {
  readonly start: number;
  readonly end: number;
  readonly from: ReadonlySet<string>;
}

/** Values by the hashes of their forms. */
interface Generation {
  /** Servers by the hash of a value. */
  readonly values: Map<string, Set<string>>;
  readonly forms: Map<string, Set<string>>;
  /** Lengths of forms by the hash of their first characters. */
  readonly lengths: Map<number, Set<number>>;
  readonly begins: FormBegins;
}

/**
 * Values that Waygate masked in texts of servers, so that they do not leave as arguments to other servers. Nobody gave
 * them to Waygate to keep, so it keeps hashes alone, under a key of this process.
 */
export class MaskedValues {
  readonly #key = randomBytes(32);
  readonly #seed = randomInt(2 ** 31);
  #latest: Generation = this.#empty();
  #earlier: Generation = this.#empty();

  /** Whether nothing was masked yet. */
  get isEmpty(): boolean {
    return this.#latest.values.size + this.#earlier.values.size === 0;
  }

  /** Remembers a value that was masked in a text of a server. Words and short numbers occur by chance. */
  note(value: string, from: string): void {
    if (value.length < MIN_CHARS || value.length > MAX_CHARS || !isDistinctive(value)) return;
    const hash = this.#hashOf(value);
    const known = this.#latest.values.get(hash);
    if (known) {
      known.add(from);
      return;
    }
    const servers = new Set([...(this.#earlier.values.get(hash) ?? []), from]);
    if (this.#latest.values.size >= MAX_VALUES) [this.#earlier, this.#latest] = [this.#latest, this.#empty()];
    const { values, forms, lengths, begins } = this.#latest;
    values.set(hash, servers);
    for (const form of formsOf(value)) {
      if (form.length < MIN_CHARS || /[\s\\]/.test(form)) continue;
      const begin = this.#beginOf(form, 0);
      lengths.set(begin, (lengths.get(begin) ?? new Set()).add(form.length));
      forms.set(this.#hashOf(form), servers);
      begins.add(form);
    }
  }

  /** Finds the places of all values in a text without white space. */
  *find(text: string): Generator<MaskedPlace> {
    for (const { values, forms, lengths, begins } of [this.#latest, this.#earlier]) {
      if (values.size === 0) continue;
      for (const start of begins.placesIn(text)) {
        for (const length of lengths.get(this.#beginOf(text, start)) ?? []) {
          const from = forms.get(this.#hashOf(text.slice(start, start + length)));
          if (from) yield { start, end: start + length, from };
        }
      }
    }
  }

  #empty(): Generation {
    return { values: new Map(), forms: new Map(), lengths: new Map(), begins: new FormBegins(this.#seed) };
  }

  #beginOf(text: string, at: number): number {
    let hash = this.#seed;
    for (let i = at; i < at + MIN_CHARS; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), FACTOR);
    return hash;
  }

  #hashOf(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64');
  }
}

/** Prime of the hash FNV-1a. */
const FACTOR = 0x01000193;

function isDistinctive(value: string): boolean {
  if (/^\d+$/.test(value)) return value.length >= MIN_DIGITS;
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z\d\s]/].filter((kind) => kind.test(value));
  return isRandom(value) || kinds.length >= 3;
}
