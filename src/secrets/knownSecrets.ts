/** Shorter values, and numbers up to this, stand in too many texts by chance: `true`, `8080`, `dev`. */
const MIN_CHARS = 6;
const MIN_DIGITS = 8;
/** Tokens are renewed and secrets are changed; what was in use before may still be repeated for a while. */
const KEPT_CHANGES = 8;

/**
 * Values that servers were given to keep. No shape tells them, so they are looked for as they are, and in the forms that
 * a server repeats them in. The texts to look for are made when something new is learned, never for a text.
 */
export class KnownSecrets {
  /** What each owner was given: the last few times, oldest first. */
  readonly #learned = new Map<string, readonly (readonly string[])[]>();
  readonly #mask: string;
  #forms: readonly string[] = [];
  #version = 0;

  /** `mask` is what stands in the place of a secret: no part of it can be one, or masking would have no end. */
  constructor(mask: string) {
    this.#mask = mask;
  }

  /** Another one after each change: what was found to hold no secret may hold one by now. */
  get version(): number {
    return this.#version;
  }

  /** Of what is looked for. */
  get longest(): number {
    return this.#forms[0]?.length ?? 0;
  }

  /** What an owner is given from now on. What it had before stays known for a while. */
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

  /** Where they stand in a text, also those that lie over one another. */
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

/** stderr is told line by line, so the lines of a longer secret count each for itself. */
function* formsOf(given: string): Generator<string> {
  // What is half a character cannot be encoded.
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

/** What is encoded begins at any place of a longer text: `user:password`. So one form for each place in three bytes. */
function base64Forms(value: string): string[] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].map((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
    // Signs that say something of its neighbours too are not its own.
    return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  });
}
