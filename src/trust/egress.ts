import { isWord, type KnownSecrets } from '../secrets/knownSecrets.ts';
import { findLiveSecrets } from '../secrets/liveSecrets.ts';
import type { MaskedValues } from '../secrets/maskedValues.ts';

/** Secret in something that is sent to a server. */
export interface SentSecret {
  /**
   * `given`: another server was given it. `masked`: it was masked in a text of another server. `form`: it has the form
   * of a secret.
   */
  kind: 'given' | 'masked' | 'form';
  /** JSON pointer (RFC 6901) to the text that holds it. */
  pointer: string;
  /** Owners as `KnownSecrets` has them, or the servers in whose texts it was masked. */
  owners: readonly string[];
}

/** Server that something is sent to. */
export interface Receiver {
  server: string;
  /** Whether an owner of `KnownSecrets` is the server. */
  isOwner(owner: string): boolean;
}

export interface Secrets {
  known: KnownSecrets;
  masked: MaskedValues;
}

/** Ordinary texts contain shorter values by chance. */
const MIN_CHARS = 8;
/** Encodings within each other that are undone. */
const MAX_ROUNDS = 3;

interface Piece {
  path: readonly string[];
  text: string;
}

/**
 * Finds the secrets in JSON that is sent to a server, one for each kind and owner: values that other servers were given
 * or that were masked in their texts, plain, in base64 or hex, with escapes, with white space in them or split over
 * several texts, and secrets by their form alone (T5.2, T5.3).
 */
export function sentSecrets(sent: unknown, receiver: Receiver, secrets: Secrets): SentSecret[] {
  const values: Piece[] = [];
  const keys: Piece[] = [];
  collect(sent, [], values, keys);
  const found = new Map<string, SentSecret>();
  const add = (secret: SentSecret): void => {
    const key = [secret.kind, ...secret.owners].join('\n');
    if (!found.has(key)) found.set(key, secret);
  };
  const text = search(values, keys, receiver, secrets, add);
  if (ESCAPES.test(text)) search(values.map(plainPiece), keys.map(plainPiece), receiver, secrets, add);
  return [...found.values()];
}

/** Searches in texts and keys. Returns all of them, joined. */
function search(
  values: readonly Piece[],
  keys: readonly Piece[],
  receiver: Receiver,
  secrets: Secrets,
  add: (secret: SentSecret) => void,
): string {
  findValues(values, '', receiver, secrets, add);
  findValues(keys, GAP, receiver, secrets, add);
  const all = [...values, ...keys];
  const text = textOf(all, '\n');
  findForms(all, text, receiver, secrets, add);
  return text;
}

function collect(value: unknown, path: readonly string[], values: Piece[], keys: Piece[]): void {
  if (typeof value === 'string' || typeof value === 'number') values.push({ path, text: String(value) });
  else if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      const below = [...path, key];
      if (!Array.isArray(value)) keys.push({ path: below, text: key });
      collect(member, below, values, keys);
    }
  }
}

function textOf(pieces: readonly Piece[], between: string): string {
  return pieces.map(({ text }) => text).join(between);
}

/** Finds values that are known or were masked. */
function findValues(
  pieces: readonly Piece[],
  between: string,
  { server, isOwner }: Receiver,
  { known, masked }: Secrets,
  add: (secret: SentSecret) => void,
): void {
  if (known.longest === 0 && masked.isEmpty) return;
  const text = compact(textOf(pieces, between));
  const pointer = (start: number) => pointerAt(pieces, between.length, start, compact);
  const places = [...known.find(text)];
  const own = places.filter(({ owners }) => [...owners].some(isOwner));
  // A secret of the server itself may contain another one.
  const isOwn = ({ start, end }: { start: number; end: number }): boolean =>
    own.some((place) => place.start <= start && end <= place.end);
  for (const place of places) {
    const { start, end, value, owners } = place;
    const isShort = value.length < MIN_CHARS || end - start < MIN_CHARS || isWord(value);
    // A header of PEM is in every key, secret or not.
    if (isShort || text.startsWith('-----', start) || isOwn(place)) continue;
    add({ kind: 'given', pointer: pointer(start), owners: [...owners] });
  }
  for (const place of masked.find(text)) {
    if (place.from.has(server) || isOwn(place)) continue;
    add({ kind: 'masked', pointer: pointer(place.start), owners: [...place.from] });
  }
}

/** Separates keys: no secret contains it, and `compact` keeps it. */
const GAP = '\0';

/** Finds secrets by their form. The server may use its own, and one that it sent itself. */
function findForms(
  pieces: readonly Piece[],
  joined: string,
  { server, isOwner }: Receiver,
  { known, masked }: Secrets,
  add: (secret: SentSecret) => void,
): void {
  for (const { start, secret } of secretsByForm(withoutHidden(joined))) {
    const value = compact(secret);
    const isOwn =
      [...known.find(value)].some(({ owners }) => [...owners].some(isOwner)) ||
      [...masked.find(value)].some(({ from }) => from.has(server));
    if (!isOwn) add({ kind: 'form', pointer: pointerAt(pieces, 1, start, withoutHidden), owners: [] });
  }
}

/** Finds secrets by their form, in runs of base64 and hex too. */
function* secretsByForm(text: string): Generator<{ start: number; secret: string }> {
  for (const { start, end } of findLiveSecrets(text)) yield { start, secret: text.slice(start, end) };
  for (const { start: index, run } of encodedRuns(text)) {
    const decoded = decodedText(run);
    if (decoded === undefined) continue;
    for (const { start, end } of findLiveSecrets(decoded)) yield { start: index, secret: decoded.slice(start, end) };
  }
}

/** Shorter runs of base64 or hex hold no secret. */
const MIN_RUN_CHARS = 24;
const ENCODED = /^[A-Za-z0-9+/_-]$/;
const IS_ENCODED = Uint8Array.from({ length: 128 }, (_, code) => Number(ENCODED.test(String.fromCharCode(code))));
const HEX = /^(?:[0-9a-f]{2})+$/i;

/** Finds long runs. Each of them contains a character at a multiple of their least length. */
function* encodedRuns(text: string): Generator<{ start: number; run: string }> {
  const isEncoded = (at: number): boolean => IS_ENCODED[text.charCodeAt(at)] === 1;
  for (let at = MIN_RUN_CHARS - 1; at < text.length; at += MIN_RUN_CHARS) {
    let start = at + 1;
    while (isEncoded(start - 1)) start -= 1;
    if (start > at) continue;
    while (isEncoded(at + 1)) at += 1;
    if (at + 1 - start >= MIN_RUN_CHARS) yield { start, run: text.slice(start, at + 1) };
  }
}

/** Decides about the rest of a run: pictures are no text. */
const SAMPLE_CHARS = 24;
const TEXT = /^[\t\n\r\x20-\x7e]*$/;

function decodedText(run: string): string | undefined {
  const encoding = HEX.test(run) ? 'hex' : 'base64';
  if (!TEXT.test(Buffer.from(run.slice(0, SAMPLE_CHARS), encoding).toString('latin1'))) return undefined;
  return Buffer.from(run, encoding).toString('latin1');
}

/** Returns the pointer to the piece at a place of the joined text, of which `form` was made piece by piece. */
function pointerAt(pieces: readonly Piece[], gap: number, at: number, form: (text: string) => string): string {
  let end = 0;
  const piece = pieces.find(({ text }) => {
    end += form(text).length + gap;
    return at < end;
  });
  return (piece?.path ?? []).map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

const ESCAPES = /\\[ux]|%[0-9a-f]{2}|&#/i;

/** Undoes the escapes of JSON, HTML and URLs. */
function plainPiece({ path, text }: Piece): Piece {
  let now = text;
  for (let round = 0; round < MAX_ROUNDS && ESCAPES.test(now); round += 1) {
    const before = now;
    now = now
      .replace(ESCAPE, (all: string, ...hex: string[]) => character(all, Number.parseInt(hex.slice(0, 4).join(''), 16)))
      .replace(/&#(\d{1,7});/g, (all: string, point: string) => character(all, Number(point)))
      .replace(/(?:%[0-9a-f]{2})+/gi, decodedBytes);
    if (now === before) break;
  }
  return { path, text: now };
}

const ESCAPE = /\\u([0-9a-f]{4})|\\u\{([0-9a-f]{1,6})\}|\\x([0-9a-f]{2})|&#x([0-9a-f]{1,6});/gi;

function character(written: string, point: number): string {
  return point <= 0x10ffff ? String.fromCodePoint(point) : written;
}

function decodedBytes(escapes: string): string {
  return Buffer.from(escapes.replaceAll('%', ''), 'hex').toString();
}

const REMOVED = /[\s\\]/;
const IS_KEPT = Uint8Array.from({ length: 128 }, (_, code) => Number(!REMOVED.test(String.fromCharCode(code))));

/** Removes white space, hidden characters and backslashes. */
function compact(text: string): string {
  if (!isAscii(text)) return withoutHidden(text).replace(/[\s\\]+/g, '');
  // No replacement and no iterator, because the loop over each character is hot.
  const bytes = Buffer.from(text, 'latin1');
  let end = 0;
  for (let i = 0; i < bytes.length; i += 1) {
    const byte = bytes[i] as number;
    bytes[end] = byte;
    end += IS_KEPT[byte] as number;
  }
  return bytes.toString('latin1', 0, end);
}

function withoutHidden(text: string): string {
  return isAscii(text) ? text : text.replace(/\p{Cf}+/gu, '');
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}
