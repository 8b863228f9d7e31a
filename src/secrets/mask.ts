import { findAssignments } from './assignments.ts';
import { findShapes, MAX_PRIVATE_KEY_CHARS } from './findShapes.ts';
import { isWord, KnownSecrets } from './knownSecrets.ts';
import { MaskedValues } from './maskedValues.ts';
import { SECRET_MASK } from './names.ts';
import type { FoundSecret } from './shapes.ts';

export { SECRET_MASK };

/** Values that the servers of this process were given; every text that the process scrubs is searched for these. */
export const knownSecrets = new KnownSecrets(SECRET_MASK);

/** Values that this process masked in texts of servers. */
export const maskedValues = new MaskedValues();

/**
 * Masks known values, the forms of `shapes.ts`, and values under the names of `names.ts`. `from` is the server that sent
 * the text: what is masked in it must not leave to another server.
 */
export function scrubSecrets(text: string, from?: string): string {
  const secrets = findSecrets(text, from);
  return secrets.length === 0 ? text : mask(text, secrets, text.length);
}

/**
 * Masks known values alone: an address with a signature in it must stay usable. Passwords that are words stay too,
 * because names and descriptions contain them by chance.
 */
export function maskKnown(text: string): string {
  const found = [...knownSecrets.find(text)].filter(({ value }) => !isWord(value)).sort((a, b) => a.start - b.start);
  return found.length === 0 ? text : mask(text, found, text.length);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Masks a text that is cut into pieces, each piece by itself. Returns `pieces` where none holds a secret. `given` are
 * places in the joined text that are secret for another reason.
 */
export function scrubPieces(pieces: readonly string[], given: readonly Span[] = [], from?: string): readonly string[] {
  const text = pieces.join('');
  noteMasked(text, given, from);
  const secrets = [...findSecrets(text, from), ...given].sort((a, b) => a.start - b.start);
  if (secrets.length === 0) return pieces;
  const hidden = withoutOverlaps(secrets);
  let next = 0;
  let end = 0;
  return pieces.map((piece) => {
    let at = end;
    end += piece.length;
    let masked = '';
    for (let one = hidden[next]; one && one.start < end && at < end; one = hidden[next]) {
      masked += text.slice(at, Math.max(at, one.start)) + SECRET_MASK;
      at = Math.min(one.end, end);
      // A longer secret goes on in the next piece.
      if (one.end > end) break;
      next += 1;
    }
    return masked + text.slice(at, end);
  });
}

function withoutOverlaps(secrets: readonly Span[]): Span[] {
  const apart: { start: number; end: number }[] = [];
  for (const { start, end } of secrets) {
    const last = apart.at(-1);
    if (last && start < last.end) last.end = Math.max(last.end, end);
    else apart.push({ start, end });
  }
  return apart;
}

/** Longer than any secret except a private key. A longer run is masked as far as the cut. */
const HOLD_BACK_CHARS = 8 * 1024;
/** Cuts a stream after white space where possible, so that a secret keeps the beginning of its word. */
const MAX_WORD_CHARS = 1_024;

/** Masks a stream as `scrubSecrets` does a text. The end of a chunk waits for the next, which may have the rest. */
export function* scrubSecretChunks(chunks: Iterable<string>, from?: string): Generator<string> {
  const heldBack = Math.max(HOLD_BACK_CHARS, knownSecrets.longest);
  let held = '';
  for (const chunk of chunks) {
    held += chunk;
    if (held.length <= 2 * Math.max(MAX_PRIVATE_KEY_CHARS, heldBack)) continue;
    const secrets = findSecrets(held, from);
    let cut = behindWhiteSpace(held, held.length - heldBack);
    // Overlapping secrets may move the cut several times. The last in the text comes first.
    for (const { from, to } of secrets.toSorted((a, b) => b.from - a.from)) if (from < cut && cut < to) cut = from;
    yield mask(held, secrets, cut);
    held = held.slice(cut);
  }
  if (held) yield scrubSecrets(held, from);
}

function behindWhiteSpace(text: string, cut: number): number {
  const start = cut - MAX_WORD_CHARS;
  const gap = /\s(?=\S*$)/.exec(text.slice(start, cut));
  return gap ? start + gap.index + 1 : cut;
}

/** A mask is a new boundary, so the word after it may now be a token. Few texts need a second round. */
const MAX_ROUNDS = 8;

/** Returns the secrets in the order of their beginnings. The masked text contains no other. */
function findSecrets(text: string, from: string | undefined): FoundSecret[] {
  let secrets = search(text);
  for (let round = 0; round < MAX_ROUNDS && secrets.length > 0; round += 1) {
    const hidden = withoutOverlaps(secrets);
    const places = new MaskedPlaces(hidden);
    const more = search(mask(text, hidden, text.length))
      .map((secret) => places.original(secret))
      .filter((secret) => !places.hides(secret));
    if (more.length === 0) break;
    secrets = [...secrets, ...more].sort((a, b) => a.start - b.start);
  }
  noteMasked(text, secrets, from);
  return secrets;
}

function noteMasked(text: string, secrets: readonly Span[], from: string | undefined): void {
  if (from === undefined) return;
  for (const { start, end } of secrets) maskedValues.note(text.slice(start, end), from);
}

function search(text: string): FoundSecret[] {
  const secrets = [...findShapes(text), ...findAssignments(text)];
  for (const { start, end } of knownSecrets.find(text)) secrets.push({ from: start, to: end, start, end });
  return secrets.sort((a, b) => a.start - b.start);
}

/** Translates places of a masked text into places of the original. */
class MaskedPlaces {
  readonly #hidden: readonly Span[];
  /** Begin of each mask in the masked text. */
  readonly #begins: readonly number[];

  constructor(hidden: readonly Span[]) {
    this.#hidden = hidden;
    let grown = 0;
    this.#begins = hidden.map(({ start, end }) => {
      const begin = start + grown;
      grown += SECRET_MASK.length - (end - start);
      return begin;
    });
  }

  original({ from, to, start, end }: FoundSecret): FoundSecret {
    return { from: this.#begin(from), to: this.#end(to), start: this.#begin(start), end: this.#end(end) };
  }

  hides({ start, end }: Span): boolean {
    const span = this.#hidden[lastUpTo(this.#hidden, ({ start: begin }) => begin <= start)];
    return span !== undefined && end <= span.end;
  }

  #begin(at: number): number {
    return this.#translate(
      at,
      lastUpTo(this.#begins, (begin) => begin <= at),
      ({ start }) => start,
    );
  }

  #end(at: number): number {
    return this.#translate(
      at,
      lastUpTo(this.#begins, (begin) => begin < at),
      ({ end }) => end,
    );
  }

  #translate(at: number, index: number, inside: (span: Span) => number): number {
    const span = this.#hidden[index];
    if (!span) return at;
    const behind = at - (this.#begins[index] as number) - SECRET_MASK.length;
    return behind < 0 ? inside(span) : span.end + behind;
  }
}

/** Returns the index of the last item of a sorted list that passes, or -1. */
function lastUpTo<T>(sorted: readonly T[], passes: (item: T) => boolean): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (passes(sorted[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Masks `text` up to `until`; overlapping secrets become one. */
function mask(text: string, secrets: readonly Span[], until: number): string {
  let masked = '';
  let at = 0;
  for (const { start, end } of secrets) {
    if (start >= until) break;
    if (start >= at) masked += text.slice(at, start) + SECRET_MASK;
    at = Math.max(at, end);
  }
  return at < until ? masked + text.slice(at, until) : masked;
}
