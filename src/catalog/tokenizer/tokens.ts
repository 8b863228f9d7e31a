import { mergedCount } from './bytePairs.ts';
import { NO_RANK } from './packedRanks.ts';
import { pieceEnd } from './tokenPieces.ts';
import { cl100kRanks, type RankTable } from './tokenRanks.ts';

/** Counts cl100k_base tokens exactly. Text that resembles a special token is ordinary text (G2.6). */
export function countTokens(text: string): number {
  const table = cl100kRanks();
  let count = 0;
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start);
    count += pieceTokens(text, start, end, table);
    start = end;
  }
  return count;
}

/** Returns whether a text has at most `limit` tokens, and reads no further than necessary. */
export function fitsTokens(text: string, limit: number): boolean {
  return tokenHorizon(text, limit, 0) === undefined;
}

/**
 * Number of pieces that a cut can change: a run of white space makes up to two and lends its last character to a third.
 */
const PIECES_TOUCHED_BY_CUT = 4;

/**
 * Returns undefined when the text has at most `limit` tokens. Otherwise an offset such that every longer prefix has
 * more than `limit`: the end of the search for a fitting one.
 */
export function prefixHorizon(text: string, limit: number): number | undefined {
  return tokenHorizon(text, limit, PIECES_TOUCHED_BY_CUT);
}

function tokenHorizon(text: string, limit: number, furtherPieces: number): number | undefined {
  const table = cl100kRanks();
  let count = 0;
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start);
    count += pieceTokens(text, start, end, table);
    start = end;
    if (count > limit) {
      for (let more = furtherPieces; more > 0 && start < text.length; more--) start = pieceEnd(text, start);
      return start;
    }
  }
  return undefined;
}

/** Token counts of pieces that are not one token. Emptied when full, so that hostile texts cannot grow it. */
const mergedCounts = new Map<string, number>();
const CACHED_PIECES = 20_000;
const LONGEST_CACHED_PIECE = 48;

function pieceTokens(text: string, start: number, end: number, table: RankTable): number {
  // An ASCII piece is its own byte string. Another piece could resemble other bytes, so it is encoded first.
  const ascii = isAscii(text, start, end);
  if (ascii && table.rankOf(text, start, end) !== NO_RANK) return 1;
  const piece = text.slice(start, end);
  const cached = mergedCounts.get(piece);
  if (cached !== undefined) return cached;
  const bytes = ascii ? piece : Buffer.from(piece, 'utf8').toString('latin1');
  const isToken = !ascii && table.rankOf(bytes, 0, bytes.length) !== NO_RANK;
  const count = isToken ? 1 : mergedCount(bytes, table);
  if (piece.length <= LONGEST_CACHED_PIECE) {
    if (mergedCounts.size >= CACHED_PIECES) mergedCounts.clear();
    mergedCounts.set(piece, count);
  }
  return count;
}

function isAscii(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    if (text.charCodeAt(at) > 0x7f) return false;
  }
  return true;
}
