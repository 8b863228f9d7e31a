/** Too many texts contain shorter values and numbers by chance: `true`, `8080`, `dev`. */
const MIN_CHARS = 6;
const MIN_DIGITS = 8;
/** A server may repeat an earlier token or secret for a while after a change. */
const KEPT_CHANGES = 8;

interface KnownForm {
  readonly form: string;
  readonly value: string;
  readonly owners: ReadonlySet<string>;
}

/** Place of a value in a text, with the value itself and those that it was given to. */
export interface KnownPlace extends Pick<KnownForm, 'value' | 'owners'> {
  readonly start: number;
  readonly end: number;
}

/**
 * Values that servers were given to keep. No form is common to all, so each value is searched for literally, and in the
 * forms in which a server may repeat it. The forms are computed when a value is learned, not for each text.
 */
export class KnownSecrets {
  /** Latest values of each owner, oldest first. */
  readonly #learned = new Map<string, readonly (readonly string[])[]>();
  readonly #mask: string;
  /** Forms by their first characters. The search reads a text once, however many values there are. */
  readonly #forms = new Map<string, KnownForm[]>();
  readonly #begins = new FormBegins();
  #longest = 0;
  #isStale = false;
  #version = 0;

  /** `mask` replaces a secret. No part of the mask can be a secret, or masking would never end. */
  constructor(mask: string) {
    this.#mask = mask;
  }

  /** Changes with each learned value: a text that was clean before may contain a secret now. */
  get version(): number {
    return this.#version;
  }

  /** Length of the longest form. */
  get longest(): number {
    this.#index();
    return this.#longest;
  }

  /** Latest values of each owner, for a thread that masks too. */
  get learned(): [owner: string, values: readonly string[]][] {
    return [...this.#learned].map(([owner, changes]) => [owner, [...new Set(changes.flat())]]);
  }

  /** Sets the values of an owner. Earlier values stay known for a while. */
  learn(owner: string, values: readonly string[]): void {
    const given = [...new Set(values)].sort();
    const before = this.#learned.get(owner) ?? [];
    if (isSame(before.at(-1) ?? [], given)) return;
    this.#learned.set(owner, [...before, given].slice(-KEPT_CHANGES));
    this.#isStale = true;
    this.#version += 1;
  }

  /** Finds the places of all values in a text, overlapping ones included. */
  *find(text: string): Generator<KnownPlace> {
    this.#index();
    if (this.#longest === 0) return;
    for (const at of this.#begins.placesIn(text)) {
      for (const { form, value, owners } of this.#forms.get(text.slice(at, at + PREFIX_CHARS)) ?? []) {
        if (text.startsWith(form, at)) yield { start: at, end: at + form.length, value, owners };
      }
    }
  }

  /** Indexes the values that were learned since the last search: servers start together. */
  #index(): void {
    if (!this.#isStale) return;
    this.#isStale = false;
    this.#forms.clear();
    this.#begins.clear();
    this.#longest = 0;
    const owners = new Map<string, Set<string>>();
    for (const [owner, given] of this.#learned) {
      for (const value of given.flat()) owners.set(value, (owners.get(value) ?? new Set()).add(owner));
    }
    for (const [value, all] of owners) {
      for (const form of new Set(formsOf(value))) {
        if (this.#mask.includes(form)) continue;
        const prefix = form.slice(0, PREFIX_CHARS);
        const alike = this.#forms.get(prefix) ?? [];
        this.#forms.set(prefix, [...alike, { form, value, owners: all }]);
        this.#begins.add(form);
        this.#longest = Math.max(this.#longest, form.length);
      }
    }
  }
}

/** Returns whether a value is a word like `postgres`, which ordinary texts contain. */
export function isWord(value: string): boolean {
  return value.length < MAX_WORD_CHARS && /^[A-Za-z]+$/.test(value);
}

const MAX_WORD_CHARS = 12;
/** Length of the shortest form. */
const PREFIX_CHARS = MIN_CHARS;
const BEGINS = 1 << 16;

/** Beginnings of forms: rules out nearly every place of a text, which is read once however many forms there are. */
export class FormBegins {
  readonly #marks = new Uint8Array(BEGINS);
  readonly #key: number;

  constructor(key = 0) {
    this.#key = key % BEGINS;
  }

  add(form: string): void {
    const hash = extended(extended(form.charCodeAt(0), form.charCodeAt(1)), form.charCodeAt(2));
    this.#marks[hash ^ this.#key] = 1;
  }

  clear(): void {
    this.#marks.fill(0);
  }

  /** Returns the places where a form may begin. No generator, because the loop over each character is hot. */
  placesIn(text: string): number[] {
    const [marks, key, places]: [Uint8Array, number, number[]] = [this.#marks, this.#key, []];
    let hash = 0;
    for (let i = 0; i < text.length; i += 1) {
      hash = extended(hash, text.charCodeAt(i));
      if (marks[hash ^ key] === 1 && i >= 2) places.push(i - 2);
    }
    return places;
  }
}

/** Adds a character to a hash, which then depends on the last three characters alone. */
function extended(hash: number, code: number): number {
  return ((hash << 6) ^ code) & (BEGINS - 1);
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((value, i) => value === others[i]);
}

/** Returns the forms of a value. Each line of a longer secret counts by itself, because stderr arrives line by line. */
export function* formsOf(given: string): Generator<string> {
  // Replaces half characters, which cannot be encoded.
  const whole = Buffer.from(given).toString();
  for (const value of new Set([whole, ...whole.split(/\r\n?|\n/).map((line) => line.trim())])) {
    if (value.length < (/\D/.test(value) ? MIN_CHARS : MIN_DIGITS)) continue;
    const json = JSON.stringify(value).slice(1, -1);
    yield value;
    // A reader may undo white space and escapes.
    const compact = value.replace(/[\s\\]+/g, '');
    if (compact.length >= MIN_CHARS) yield compact;
    yield json;
    yield json.replace(/[\u0080-\uffff]/g, unicodeEscape);
    const html = value.replace(/[&<>"]/g, (sign) => HTML[sign] as string);
    yield html.replaceAll("'", '&#39;');
    yield html.replaceAll("'", '&#x27;');
    const encoded = [...encodedForms(value)];
    yield* encoded;
    if (value.length > MAX_TWICE_CHARS) continue;
    yield value.replace(/./gs, unicodeEscape);
    const everySign = Buffer.from(value).toString('hex').replace(/../g, '%$&');
    yield everySign;
    yield everySign.toUpperCase();
    for (const form of encoded) yield* encodedForms(form);
  }
}

const HTML: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** Length up to which a value is searched for in forms that are rare or encoded twice. Longer ones are keys in blocks. */
const MAX_TWICE_CHARS = 512;

function unicodeEscape(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Returns a value as base64, as hexadecimal digits and as a part of a URL, in the usual spellings. */
function* encodedForms(value: string): Generator<string> {
  const inUrl = encodeURIComponent(value);
  yield inUrl;
  yield inUrl.replace(/%../g, (code) => code.toLowerCase());
  yield new URLSearchParams({ '': value }).toString().slice(1);
  const hex = Buffer.from(value).toString('hex');
  yield hex;
  yield hex.toUpperCase();
  for (const form of base64Forms(value)) {
    yield form;
    yield form.replaceAll('+', '-').replaceAll('/', '_');
  }
}

/**
 * Returns the base64 forms of a value, one for each offset in three bytes: the value may stand anywhere in a longer
 * text, as in `user:password`.
 */
function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    // Drops the signs that also depend on the neighbours.
    return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  });
}
