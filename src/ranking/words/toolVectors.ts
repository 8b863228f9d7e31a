import type { FieldTerms } from '../scoring/corpus.ts';
import { FIELDS, type FieldName } from '../scoring/toolText.ts';
import { DIMENSIONS, type WordTable } from './wordTable.ts';

/** Weights of the parts of a tool's text in its vector, and their limits in words. */
const NAME = 2;
const SERVER = 0.5;
const ARGUMENTS = 0.25;
const MAX_NAME_WORDS = 20;
const MAX_SERVER_WORDS = 10;
const MAX_DESCRIPTION_WORDS = 30;
const MAX_ARGUMENT_WORDS = 20;

export interface ToolVectors {
  table: WordTable;
  /** Unit vectors after subtracting the catalog's mean, one row per tool. */
  rows: Float32Array;
  /** Length of each row beyond its head. */
  tails: Float32Array;
  mean: Float64Array;
}

function addRow(table: WordTable, row: number, weight: number, into: Float64Array): void {
  const gain = weight * (table.scales[row] as number);
  const start = row * DIMENSIONS;
  for (let d = 0; d < DIMENSIONS; d++) into[d] = (into[d] as number) + gain * (table.cells[start + d] as number);
}

function toUnit(vector: Float64Array): boolean {
  let square = 0;
  for (const value of vector) square += value * value;
  if (square === 0) return false;
  const length = Math.sqrt(square);
  for (let d = 0; d < DIMENSIONS; d++) vector[d] = (vector[d] as number) / length;
  return true;
}

const PARTS: readonly { field: FieldName; weight: number; words: number }[] = [
  { field: 'name', weight: NAME, words: MAX_NAME_WORDS },
  { field: 'description', weight: 1, words: MAX_DESCRIPTION_WORDS },
  { field: 'server', weight: SERVER, words: MAX_SERVER_WORDS },
  { field: 'arguments', weight: ARGUMENTS, words: MAX_ARGUMENT_WORDS },
];

export function buildToolVectors(
  table: WordTable,
  { terms, starts }: FieldTerms,
  stems: readonly string[],
): ToolVectors {
  const documents = (starts.length - 1) / FIELDS.length;
  const rowOfTerm = Int32Array.from(stems, (stem) => table.rows.get(stem) ?? -1);
  const rows = new Float32Array(documents * DIMENSIONS);
  const mean = new Float64Array(DIMENSIONS);
  const vector = new Float64Array(DIMENSIONS);
  for (let doc = 0; doc < documents; doc++) {
    vector.fill(0);
    for (const { field, weight, words } of PARTS) {
      const part = doc * FIELDS.length + FIELDS.indexOf(field);
      const start = starts[part] as number;
      const end = Math.min(starts[part + 1] as number, start + words);
      for (let at = start; at < end; at++) {
        const row = rowOfTerm[terms[at] as number] as number;
        if (row >= 0) addRow(table, row, weight, vector);
      }
    }
    toUnit(vector);
    rows.set(vector, doc * DIMENSIONS);
    for (let d = 0; d < DIMENSIONS; d++) mean[d] = (mean[d] as number) + (vector[d] as number) / documents;
  }
  const tails = new Float32Array(documents);
  for (let doc = 0; doc < documents; doc++) {
    for (let d = 0; d < DIMENSIONS; d++) vector[d] = (rows[doc * DIMENSIONS + d] as number) - (mean[d] as number);
    toUnit(vector);
    rows.set(vector, doc * DIMENSIONS);
    tails[doc] = tailLength(rows, doc * DIMENSIONS) + TAIL_SLACK;
  }
  return { table, rows, tails, mean };
}

/** Returns the query's unit vector; undefined if the table contains none of its words. */
export function queryVector(
  vectors: ToolVectors,
  words: readonly { stem: string; weight: number }[],
): QueryVector | undefined {
  const vector = new Float64Array(DIMENSIONS);
  let known = false;
  for (const { stem, weight } of words) {
    const row = vectors.table.rows.get(stem);
    if (row === undefined) continue;
    addRow(vectors.table, row, weight, vector);
    known = true;
  }
  if (!known || !toUnit(vector)) return undefined;
  for (let d = 0; d < DIMENSIONS; d++) vector[d] = (vector[d] as number) - (vectors.mean[d] as number);
  return toUnit(vector) ? { vector, tail: tailLength(vector, 0) } : undefined;
}

/** Query vector with the length of its tail, which bounds a product after its first part. */
export interface QueryVector {
  vector: Float64Array;
  tail: number;
}

/**
 * Size of the head. A third of the product and the lengths of both tails show for most tools that the rest cannot
 * matter.
 */
const HEAD = 16;
/** Exceeds the error of rounding to 32 bits. */
const TAIL_SLACK = 1e-6;

function tailLength(values: Float64Array | Float32Array, start: number): number {
  let square = 0;
  for (let at = start + HEAD; at < start + DIMENSIONS; at++) square += (values[at] as number) * (values[at] as number);
  return Math.sqrt(square);
}

/** Returns the likeness of query and tool, from 0 to 1; also 0 if it would be below `needed`. */
export function likeness(vectors: ToolVectors, query: QueryVector, doc: number, needed = 0): number {
  const { rows } = vectors;
  const { vector } = query;
  const start = doc * DIMENSIONS;
  let dot = 0;
  for (let d = 0; d < HEAD; d++) dot += (vector[d] as number) * (rows[start + d] as number);
  if (dot + query.tail * (vectors.tails[doc] as number) < needed) return 0;
  for (let d = HEAD; d < DIMENSIONS; d++) dot += (vector[d] as number) * (rows[start + d] as number);
  return Math.max(dot, 0);
}
