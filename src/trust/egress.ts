import { isWord, type KnownSecrets } from '../secrets/knownSecrets.ts';

/** Secret of another server in arguments. */
export interface ForeignSecret {
  /** JSON pointer (RFC 6901) to the text that holds it. */
  pointer: string;
  /** Owner as `KnownSecrets` has it. */
  owner: string;
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
 * Finds a value that was given to other servers only: plain, in base64 or hex, encoded for URLs or JSON, with white
 * space in it, or split over several texts.
 */
export function foreignSecret(
  args: unknown,
  known: KnownSecrets,
  isOwner: (owner: string) => boolean,
): ForeignSecret | undefined {
  if (known.longest === 0) return undefined;
  const values: Piece[] = [];
  const keys: Piece[] = [];
  collect(args, [], values, keys);
  const search = (pieces: readonly Piece[], between: string) => found(pieces, between, known, isOwner);
  const written = search([...values, ...keys], '\n');
  if (written) return written;
  const decoded = [values, keys].map((pieces) =>
    pieces.map(({ path, text }) => ({ path, text: compact(plain(text)) })),
  );
  const [ownValues, ownKeys] = decoded as [Piece[], Piece[]];
  return search(ownValues, '') ?? search(ownKeys, '\n');
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

function found(
  pieces: readonly Piece[],
  between: string,
  known: KnownSecrets,
  isOwner: (owner: string) => boolean,
): ForeignSecret | undefined {
  const text = pieces.map((piece) => piece.text).join(between);
  const places = [...known.find(text)];
  const own = places.filter(({ owners }) => [...owners].some(isOwner));
  for (const { start, end, value, owners } of places) {
    const isShort = value.length < MIN_CHARS || end - start < MIN_CHARS || isWord(value);
    // A header of PEM is in every key, secret or not.
    if (isShort || text.startsWith('-----', start)) continue;
    // A secret of the server itself may contain another one.
    if (own.some((place) => place.start <= start && end <= place.end)) continue;
    const [owner = ''] = owners;
    return { pointer: pointerAt(pieces, between, start), owner };
  }
  return undefined;
}

function pointerAt(pieces: readonly Piece[], between: string, at: number): string {
  let end = 0;
  const piece = pieces.find(({ text }) => {
    end += text.length + between.length;
    return at < end;
  });
  return (piece?.path ?? []).map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Undoes the escapes of JSON, HTML and URLs. */
function plain(text: string): string {
  let now = text;
  for (let round = 0; round < MAX_ROUNDS && /[\\%&]/.test(now); round += 1) {
    const before = now;
    now = now
      .replace(ESCAPE, (all: string, ...hex: string[]) => character(all, Number.parseInt(hex.slice(0, 4).join(''), 16)))
      .replace(/&#(\d{1,7});/g, (all: string, point: string) => character(all, Number(point)))
      .replace(/(?:%[0-9a-f]{2})+/gi, decodedBytes);
    if (now === before) break;
  }
  return now;
}

const ESCAPE = /\\u([0-9a-f]{4})|\\u\{([0-9a-f]{1,6})\}|\\x([0-9a-f]{2})|&#x([0-9a-f]{1,6});/gi;

function character(written: string, point: number): string {
  return point <= 0x10ffff ? String.fromCodePoint(point) : written;
}

function decodedBytes(escapes: string): string {
  return Buffer.from(escapes.replaceAll('%', ''), 'hex').toString();
}

/** Removes white space, hidden characters and the backslashes of other escapes. */
function compact(text: string): string {
  return /[\s\p{Cf}\\]/u.test(text) ? text.replace(/[\s\p{Cf}\\]+/gu, '') : text;
}
