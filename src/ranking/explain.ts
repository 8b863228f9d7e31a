import type { CatalogTool } from '../catalog/types.ts';
import type { Arranged } from './arrange.ts';
import type { Contribution, RankExplanation } from './explanation.ts';
import { INTENT_CODES, type Intent } from './intent.ts';
import type { RankIndex } from './rankIndex.ts';
import { IMPACT_SCALE } from './scoring/postings.ts';
import {
  type Evidence,
  intentAgreement,
  SCORE_SCALE,
  SIGNAL_WEIGHTS,
  type SignalName,
  secondLook,
} from './scoring/scoring.ts';
import { addConcept, type Expansion, firstAtLeast } from './scoring/signals.ts';
import { argumentWords, type FieldName, readableDescription } from './scoring/toolText.ts';
import { analyzeWord, documentStems, eachRawWord } from './words/text.ts';

export function explain(
  index: RankIndex,
  query: string,
  evidence: Evidence,
  hits: readonly Arranged[],
  confidence: RankExplanation['confidence'],
): RankExplanation {
  return {
    query,
    confidence,
    words: evidence.plan.words.map(({ lower, terms, stop }) => ({ word: lower, known: terms.length > 0, stop })),
    concepts: evidence.plan.concepts.map(({ label, expansions }) => ({
      asked: label,
      standsFor: expansions.map((expansion) => phraseOf(index, expansion)),
    })),
    intent: evidence.wanted,
    hits: hits.map((hit) => ({
      toolId: hit.tool.id,
      score: hit.score,
      contributions: contributionsTo(index, evidence, hit),
    })),
  };
}

function phraseOf(index: RankIndex, expansion: Expansion): string {
  return expansion.terms.map((term) => index.lexicon.stems[term]).join(' ');
}

function contributionsTo(index: RankIndex, evidence: Evidence, hit: Arranged): Contribution[] {
  const { doc } = hit;
  const found: Contribution[] = [];
  const add = (from: Contribution['from'], what: string, amount: number, fields?: readonly FieldName[]) => {
    const rounded = Math.round(amount * SCORE_SCALE * 10) / 10;
    if (rounded !== 0) found.push({ from, what, amount: rounded, ...(fields ? { fields } : {}) });
  };
  const meaningGain = SIGNAL_WEIGHTS['words or meanings'] * evidence.perMeanings;
  const wordGain = SIGNAL_WEIGHTS.words * evidence.perWords + meaningGain;
  const stemsByField = fieldStems(hit.tool);
  for (const { term, weight } of evidence.plan.terms) {
    const stem = index.lexicon.stems[term] as string;
    const fields = [...stemsByField].filter(([, stems]) => stems.has(stem)).map(([field]) => field);
    add('word', stem, wordGain * weight * (index.idf[term] as number) * impactOf(index, term, doc), fields);
  }
  for (const concept of evidence.plan.concepts) {
    const alone = new Float64Array(index.documents.length);
    addConcept(index, concept, index.scratch, alone);
    const means = concept.expansions
      .filter(({ terms }) => terms.every((term) => impactOf(index, term, doc) > 0))
      .map((expansion) => phraseOf(index, expansion));
    add('meaning', `${concept.label} → ${means.join(', ')}`, meaningGain * (alone[doc] as number));
  }
  const { server } = hit.tool;
  const number = index.servers.findIndex(({ name }) => name === server);
  const does = INTENT_CODES[index.intents[doc] as number] as Intent;
  const look = secondLook(index, evidence, doc);
  const signals: readonly [SignalName, string, number][] = [
    ['name', 'share of the name that was asked for', evidence.name[doc] as number],
    ['server named', server, evidence.named[number] as number],
    ['server affinity', server, evidence.affinity[number] as number],
    ['intent', `asked to ${evidence.wanted}, tool does ${does}`, intentAgreement(evidence.wanted, does)],
    ['learned', 'used for such queries before', evidence.learned.get(doc) ?? 0],
    ['name forms', 'words of the name in the form of the query', look['name forms']],
    ['name order', 'neighbours in the query and in the name', look['name order']],
    ['name rest', 'words of the name that were not asked for', look['name rest']],
  ];
  for (const [signal, what, value] of signals) add(signal, what, SIGNAL_WEIGHTS[signal] * value);
  const sum = found.reduce((total, { amount }) => total + amount, 0);
  if (hit.factor !== 1) add('variant or sibling', `times ${hit.factor}`, (sum * (hit.factor - 1)) / SCORE_SCALE);
  const rest = hit.score - found.reduce((total, { amount }) => total + amount, 0);
  if (Math.abs(rest) >= 0.05) found.push({ from: 'rounding', what: '', amount: Math.round(rest * 10) / 10 });
  return found;
}

/** Returns how strongly a document contains a term. Binary search works because postings are sorted by document. */
function impactOf(index: RankIndex, term: number, doc: number): number {
  const { offsets, docs, impacts } = index.postings;
  const end = offsets[term + 1] as number;
  const at = firstAtLeast(docs, offsets[term] as number, end, doc);
  return at < end && docs[at] === doc ? (impacts[at] as number) / IMPACT_SCALE : 0;
}

function fieldStems(tool: CatalogTool): Map<FieldName, ReadonlySet<string>> {
  const { names, texts } = argumentWords(tool.inputSchema);
  const stemsOf = (...parts: readonly string[]) => {
    const stems = new Set<string>();
    for (const part of parts)
      eachRawWord(part, (raw) => documentStems(analyzeWord(raw)).forEach((stem) => void stems.add(stem)));
    return stems;
  };
  return new Map<FieldName, ReadonlySet<string>>([
    ['name', stemsOf(tool.upstreamName)],
    ['server', stemsOf(tool.server, tool.namespace)],
    ['title', stemsOf(tool.title)],
    ['description', stemsOf(readableDescription(tool.description))],
    ['arguments', stemsOf(...names)],
    ['argument texts', stemsOf(...texts)],
    ['tags', stemsOf(...tool.tags)],
  ]);
}
