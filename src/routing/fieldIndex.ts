import type { CatalogTool } from '../catalog/types.ts';
import type { Lexicon } from './lexicon.ts';
import { type Postings, PostingsBuilder } from './postings.ts';
import { argumentWords, FIELD_WEIGHTS, FIELDS, readableDescription } from './toolText.ts';

/** BM25F saturation and length normalisation; flat optima on every set measured. */
const K1 = 0.9;
const B = 0.75;

export interface ServerText {
  name: string;
  /** Terms of the server's name and namespace. */
  nameTerms: readonly number[];
  /** Terms of its instructions. */
  textTerms: readonly number[];
}

/** The terms of one tool, field by field, in the order of `FIELDS`. */
export type FieldTerms = readonly (readonly number[] | Int32Array)[];

export function fieldTermsOf(tool: CatalogTool, server: ServerText, lexicon: Lexicon): FieldTerms {
  const all = lexicon.termsOf(tool.upstreamName);
  const serverWords = new Set(server.nameTerms);
  const own = all.filter((term) => !serverWords.has(term));
  const words = argumentWords(tool.inputSchema);
  const argumentTexts: number[] = [];
  for (const text of words.texts) for (const term of lexicon.termsOfRepeated(text)) argumentTexts.push(term);
  const argumentNames: number[] = [];
  for (const name of words.names) for (const term of lexicon.termsOfRepeated(name)) argumentNames.push(term);
  return [
    own.length > 0 ? own : all,
    server.nameTerms,
    lexicon.termsOf(tool.title),
    lexicon.termsOf(readableDescription(tool.description)),
    argumentNames,
    argumentTexts,
    server.textTerms,
    lexicon.termsOf(tool.tags.join(' ')),
  ];
}

export interface FieldIndex {
  postings: Postings;
  /** Inverse document frequency of each term, rounded so that no platform's logarithm can tell. */
  idf: Float64Array;
  maxIdf: number;
}

export function roundedIdf(docs: number, docFrequency: number): number {
  return Math.round(Math.log(1 + (docs - docFrequency + 0.5) / (docFrequency + 0.5)) * 1024) / 1024;
}

export function buildFieldIndex(documents: readonly FieldTerms[], termCount: number): FieldIndex {
  const average = FIELDS.map((_, field) => {
    let total = 0;
    for (const terms of documents) total += (terms[field] as readonly number[]).length;
    return Math.max(1, total / Math.max(1, documents.length));
  });
  const builder = new PostingsBuilder();
  const weight = new Float64Array(termCount);
  const docFrequency = new Uint32Array(termCount);
  const touched: number[] = [];
  for (let doc = 0; doc < documents.length; doc++) {
    const fields = documents[doc] as FieldTerms;
    for (let field = 0; field < FIELDS.length; field++) {
      const terms = fields[field] as readonly number[];
      if (terms.length === 0) continue;
      const fieldName = FIELDS[field] as (typeof FIELDS)[number];
      const norm = FIELD_WEIGHTS[fieldName] / (1 - B + (B * terms.length) / (average[field] as number));
      for (let i = 0; i < terms.length; i++) {
        const term = terms[i] as number;
        if (weight[term] === 0) touched.push(term);
        weight[term] = (weight[term] as number) + norm;
      }
    }
    for (const term of touched) {
      const mass = weight[term] as number;
      builder.add(term, doc, mass / (K1 + mass));
      weight[term] = 0;
      docFrequency[term] = (docFrequency[term] as number) + 1;
    }
    touched.length = 0;
  }
  const idf = new Float64Array(termCount);
  let maxIdf = 0;
  for (let term = 0; term < termCount; term++) {
    idf[term] = roundedIdf(documents.length, docFrequency[term] as number);
    if ((idf[term] as number) > maxIdf) maxIdf = idf[term] as number;
  }
  return { postings: builder.build(termCount), idf, maxIdf };
}
