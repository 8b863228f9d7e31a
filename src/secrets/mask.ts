import { findAssignments } from './assignments.ts';
import { findShapes, MAX_PRIVATE_KEY_CHARS } from './findShapes.ts';
import { KnownSecrets } from './knownSecrets.ts';
import { type FoundSecret, SECRET_MASK } from './shapes.ts';

export { SECRET_MASK };

/** Values that the servers of this process were given; every text that the process scrubs is searched for these. */
export const knownSecrets = new KnownSecrets(SECRET_MASK);

/** Masks known values, the forms of `shapes.ts`, and values under the names of `names.ts`. */
export function scrubSecrets(text: string): string {
  const secrets = findSecrets(text);
  return secrets.length === 0 ? text : mask(text, secrets, text.length);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Masks a text that is cut into pieces, each piece by itself. Returns `pieces` where none holds a secret. `given` are
 * places in the joined text that are secret for another reason.
 */
export function scrubPieces(pieces: readonly string[], given: readonly Span[] = []): readonly string[] {
  const text = pieces.join('');
  const secrets = [...findSecrets(text), ...given].sort((a, b) => a.start - b.start);
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

/** Longer than any secret but a private key. A longer run is masked up to where it was cut. */
const HOLD_BACK_CHARS = 8 * 1024;
/** A stream is cut behind white space where there is some: a secret behind it keeps the beginning of its word. */
const MAX_WORD_CHARS = 1_024;

/** Masks a stream. The end of a chunk waits for the next chunk, because a secret may straddle both. */
export function* scrubSecretChunks(chunks: Iterable<string>): Generator<string> {
  const heldBack = Math.max(HOLD_BACK_CHARS, knownSecrets.longest);
  let held = '';
  for (const chunk of chunks) {
    held += chunk;
    if (held.length <= 2 * Math.max(MAX_PRIVATE_KEY_CHARS, heldBack)) continue;
    const secrets = findSecrets(held);
    let cut = behindWhiteSpace(held, held.length - heldBack);
    // Overlapping secrets may move the cut several times; the last in the text is looked at first.
    for (const { from, to } of secrets.toSorted((a, b) => b.from - a.from)) if (from < cut && cut < to) cut = from;
    yield mask(held, secrets, cut);
    held = held.slice(cut);
  }
  if (held) yield scrubSecrets(held);
}

function behindWhiteSpace(text: string, cut: number): number {
  const start = cut - MAX_WORD_CHARS;
  const gap = /\s(?=\S*$)/.exec(text.slice(start, cut));
  return gap ? start + gap.index + 1 : cut;
}

/** In order of where they begin. */
function findSecrets(text: string): FoundSecret[] {
  const secrets = [...findShapes(text), ...findAssignments(text)];
  for (const { start, end } of knownSecrets.find(text)) secrets.push({ from: start, to: end, start, end });
  return secrets.sort((a, b) => a.start - b.start);
}

/** `text` up to `until`; secrets that overlap become one. */
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
