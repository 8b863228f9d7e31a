/** Too many texts contain shorter values and numbers by chance: `true`, `8080`, `dev`. */
const MIN_CHARS = 6;
const MIN_DIGITS = 8;
/** A server may repeat an earlier token or secret for a while after a change. */
const KEPT_CHANGES = 8;

/**
 * Values that servers were given to keep. No form is common to all, so each value is searched for literally, and in the
 * forms in which a server may repeat it. The forms are computed when a value is learned, not for each text.
 */
export class KnownSecrets {
  /** Latest values of each owner, oldest first. */
  readonly #learned = new Map<string, readonly (readonly string[])[]>();
  readonly #mask: string;
  #forms: readonly string[] = [];
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
    return this.#forms[0]?.length ?? 0;
  }

  /** Sets the values of an owner. Earlier values stay known for a while. */
  learn(owner: string, values: readonly string[]): void {
    const given = [...new Set(values)].sort();
    const before = this.#learned.get(owner) ?? [];
    if (isSame(before.at(-1) ?? [], given)) return;
    this.#learned.set(owner, [...before, given].slice(-KEPT_CHANGES));
    const forms = new Set<string>();
    for (const value of [...this.#learned.values()].flat(2)) for (const form of formsOf(value)) forms.add(form);
    this.#forms = [...forms].filter((form) => !this.#mask.includes(form)).sort((a, b) => b.length - a.length);
    this.#version += 1;
  }

  /** Finds the places of all values in a text, overlapping ones included. */
  *find(text: string): Generator<{ start: number; end: number }> {
    for (const form of this.#forms) {
      for (let at = text.indexOf(form); at !== -1; at = text.indexOf(form, at + 1)) {
        yield { start: at, end: at + form.length };
      }
    }
  }
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((value, i) => value === others[i]);
}

/** Returns the forms of a value. Each line of a longer secret counts by itself, because stderr arrives line by line. */
function* formsOf(given: string): Generator<string> {
  // Replaces half characters, which cannot be encoded.
  const whole = Buffer.from(given).toString();
  for (const value of new Set([whole, ...whole.split(/\r\n?|\n/).map((line) => line.trim())])) {
    if (value.length < (/\D/.test(value) ? MIN_CHARS : MIN_DIGITS)) continue;
    const json = JSON.stringify(value).slice(1, -1);
    yield value;
    yield json;
    yield json.replace(/[\u0080-\uffff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
    yield encodeURIComponent(value);
    yield new URLSearchParams({ '': value }).toString().slice(1);
    for (const form of base64Forms(value)) {
      yield form;
      yield form.replaceAll('+', '-').replaceAll('/', '_');
    }
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
