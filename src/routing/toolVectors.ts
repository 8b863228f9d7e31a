import { DIMENSIONS, type WordTable } from './wordTable.ts';

/** How much each part of a tool's text goes into its vector, and how many words of it. */
const NAME = 2;
const SERVER = 0.5;
const ARGUMENTS = 0.25;
const MAX_DESCRIPTION_WORDS = 30;
const MAX_ARGUMENT_WORDS = 20;

export interface ToolVectors {
  table: WordTable;
  /** Unit vectors after the catalog's mean was taken off, one row a tool. */
  rows: Float32Array;
  /** The length of each row beyond its head. */
  tails: Float32Array;
  mean: Float64Array;
}

export interface VectorText {
  name: readonly string[];
  description: readonly string[];
  server: readonly string[];
  argumentNames: readonly string[];
}

export function addWord(table: WordTable, stem: string, weight: number, into: Float64Array): boolean {
  const row = table.rows.get(stem);
  if (row === undefined) return false;
  const gain = weight * (table.scales[row] as number);
  const start = row * DIMENSIONS;
  for (let d = 0; d < DIMENSIONS; d++) into[d] = (into[d] as number) + gain * (table.cells[start + d] as number);
  return true;
}

function toUnit(vector: Float64Array): boolean {
  let square = 0;
  for (const value of vector) square += value * value;
  if (square === 0) return false;
  const length = Math.sqrt(square);
  for (let d = 0; d < DIMENSIONS; d++) vector[d] = (vector[d] as number) / length;
  return true;
}

export function buildToolVectors(table: WordTable, texts: readonly VectorText[]): ToolVectors {
  const rows = new Float32Array(texts.length * DIMENSIONS);
  const mean = new Float64Array(DIMENSIONS);
  const vector = new Float64Array(DIMENSIONS);
  for (const [doc, text] of texts.entries()) {
    vector.fill(0);
    for (const stem of text.name) addWord(table, stem, NAME, vector);
    for (const stem of text.description.slice(0, MAX_DESCRIPTION_WORDS)) addWord(table, stem, 1, vector);
    for (const stem of text.server) addWord(table, stem, SERVER, vector);
    for (const stem of text.argumentNames.slice(0, MAX_ARGUMENT_WORDS)) addWord(table, stem, ARGUMENTS, vector);
    toUnit(vector);
    rows.set(vector, doc * DIMENSIONS);
    for (let d = 0; d < DIMENSIONS; d++) mean[d] = (mean[d] as number) + (vector[d] as number) / texts.length;
  }
  for (let doc = 0; doc < texts.length; doc++) {
    for (let d = 0; d < DIMENSIONS; d++) vector[d] = (rows[doc * DIMENSIONS + d] as number) - (mean[d] as number);
    toUnit(vector);
    rows.set(vector, doc * DIMENSIONS);
  }
  const tails = new Float32Array(texts.length);
  for (let doc = 0; doc < texts.length; doc++) tails[doc] = tailLength(rows, doc * DIMENSIONS) + TAIL_SLACK;
  return { table, rows, tails, mean };
}

/** The query's unit vector, or nothing if the table knows none of its words. */
export function queryVector(
  vectors: ToolVectors,
  words: readonly { stem: string; weight: number }[],
): QueryVector | undefined {
  const vector = new Float64Array(DIMENSIONS);
  let known = false;
  for (const { stem, weight } of words) known = addWord(vectors.table, stem, weight, vector) || known;
  if (!known || !toUnit(vector)) return undefined;
  for (let d = 0; d < DIMENSIONS; d++) vector[d] = (vector[d] as number) - (vectors.mean[d] as number);
  return toUnit(vector) ? { vector, tail: tailLength(vector, 0) } : undefined;
}

/** A query's vector with the length of its tail, by which a product can be bounded after its first part. */
export interface QueryVector {
  vector: Float64Array;
  tail: number;
}

/** A third of the product, and the lengths of both tails, tell for most tools that the rest cannot matter. */
const HEAD = 16;
/** More than rounding to 32 bits can take away. */
const TAIL_SLACK = 1e-6;

function tailLength(values: Float64Array | Float32Array, start: number): number {
  let square = 0;
  for (let at = start + HEAD; at < start + DIMENSIONS; at++) square += (values[at] as number) * (values[at] as number);
  return Math.sqrt(square);
}

/** How alike query and tool are, 0 to 1; 0 as well where it would stay below `needed`. */
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
