import type { FieldTerms } from './corpus.ts';
import { type Postings, PostingsBuilder } from './postings.ts';
import { FIELD_WEIGHTS, FIELDS } from './toolText.ts';

/** BM25F saturation and length normalisation; flat optima on every measured set. */
const K1 = 0.9;
const B = 0.75;

export interface FieldIndex {
  postings: Postings;
  /** Inverse document frequency of each term, rounded so that platform differences in logarithms vanish. */
  idf: Float64Array;
  maxIdf: number;
}

export function roundedIdf(docs: number, docFrequency: number): number {
  return Math.round(Math.log(1 + (docs - docFrequency + 0.5) / (docFrequency + 0.5)) * 1024) / 1024;
}

export function buildFieldIndex({ terms, starts }: FieldTerms, termCount: number): FieldIndex {
  const fields = FIELDS.length;
  const documents = (starts.length - 1) / fields;
  const average = FIELDS.map((_, field) => {
    let total = 0;
    for (let at = field; at < starts.length - 1; at += fields)
      total += (starts[at + 1] as number) - (starts[at] as number);
    return Math.max(1, total / Math.max(1, documents));
  });
  const builder = new PostingsBuilder();
  const weight = new Float64Array(termCount);
  const docFrequency = new Uint32Array(termCount);
  const touched: number[] = [];
  for (let doc = 0; doc < documents; doc++) {
    for (let field = 0; field < fields; field++) {
      const start = starts[doc * fields + field] as number;
      const end = starts[doc * fields + field + 1] as number;
      if (start === end) continue;
      const name = FIELDS[field] as (typeof FIELDS)[number];
      const norm = FIELD_WEIGHTS[name] / (1 - B + (B * (end - start)) / (average[field] as number));
      for (let at = start; at < end; at++) {
        const term = terms[at] as number;
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
    idf[term] = roundedIdf(documents, docFrequency[term] as number);
    if ((idf[term] as number) > maxIdf) maxIdf = idf[term] as number;
  }
  return { postings: builder.build(termCount), idf, maxIdf };
}
