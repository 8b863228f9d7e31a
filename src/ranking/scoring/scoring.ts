import { notesOn } from '../candidateNotes.ts';
import { INTENT_CODES, type Intent, queryIntent } from '../intent.ts';
import type { RankIndex } from '../rankIndex.ts';
import type { QueryPlan } from '../words/queryWords.ts';
import { addNameCoverage } from './nameCoverage.ts';
import { namedServers, serverAffinity } from './serverEvidence.ts';
import { addConcept, addTerms } from './signals.ts';

/** Parts of a score, in the order of addition. */
export const SIGNALS = [
  'words',
  'words or meanings',
  'name',
  'server named',
  'server affinity',
  'intent',
  'learned',
  'name forms',
  'name order',
  'name rest',
] as const;
export type SignalName = (typeof SIGNALS)[number];

/** Few and round weights, chosen across all development sets together and never for one query. */
export const SIGNAL_WEIGHTS: Readonly<Record<SignalName, number>> = {
  words: 0.3,
  'words or meanings': 1,
  name: 0.3,
  'server named': 0.3,
  'server affinity': 0.15,
  intent: 0.15,
  learned: 1,
  'name forms': 0.1,
  'name order': 0.1,
  'name rest': 0.02,
};

/** Scores are integers, so that their order is the same on every platform. */
export const SCORE_SCALE = 10_000;

/** Evidence from a query for the whole catalog, before single tools are compared. */
export interface Evidence {
  words: Float64Array;
  meanings: Float64Array;
  name: Float64Array;
  /** 1 divided by the best tool's value; 0 if nothing matched. */
  perWords: number;
  perMeanings: number;
  named: Float64Array;
  affinity: Float64Array;
  wanted: Intent;
  /** Raise of each document from use, and the tools that caused it. */
  learned: ReadonlyMap<number, number>;
  learnedIds: ReadonlySet<string>;
  plan: QueryPlan;
}

export function gatherEvidence(index: RankIndex, plan: QueryPlan, uses: ReadonlyMap<string, number>): Evidence {
  const { scratch } = index;
  const words = scratch.words.fill(0);
  const name = scratch.name.fill(0);
  const bestWords = addTerms(index, plan.terms, words);
  const meanings = scratch.meanings;
  meanings.set(words);
  let best = bestWords;
  for (const concept of plan.concepts) best = Math.max(best, addConcept(index, concept, scratch, meanings));
  const nameTerms = new Map<number, number>();
  for (const [stem, sureness] of plan.sureness) {
    const term = index.lexicon.lookup(stem);
    if (term !== undefined) nameTerms.set(term, sureness);
  }
  addNameCoverage(index.names, nameTerms, name);
  const learned = new Map<number, number>();
  for (const [id, value] of uses) {
    const doc = index.docOf.get(id);
    if (doc !== undefined) learned.set(doc, Math.max(learned.get(doc) ?? 0, value));
  }
  return {
    words,
    meanings,
    name,
    perWords: bestWords === 0 ? 0 : 1 / bestWords,
    perMeanings: best === 0 ? 0 : 1 / best,
    named: namedServers(index.serverIndex, plan.words, plan.sureness),
    affinity: serverAffinity(index.serverIndex, plan.terms),
    wanted: queryIntent(plan.words),
    learned,
    learnedIds: new Set(uses.keys()),
    plan,
  };
}

export function intentAgreement(wanted: Intent, does: Intent): number {
  if (wanted === 'unknown') return 0;
  return does === wanted ? 1 : does === 'unknown' ? 0.5 : 0;
}

/** Sums the signals that are cheap for every tool: all except the second look. */
export function baseScores(index: RankIndex, evidence: Evidence): Float64Array {
  const { words, meanings, name } = evidence;
  const wordGain = SIGNAL_WEIGHTS.words * evidence.perWords;
  const meaningGain = SIGNAL_WEIGHTS['words or meanings'] * evidence.perMeanings;
  const nameGain = SIGNAL_WEIGHTS.name;
  const perServer = evidence.named.map(
    (sureness, server) =>
      SIGNAL_WEIGHTS['server named'] * sureness +
      SIGNAL_WEIGHTS['server affinity'] * (evidence.affinity[server] as number),
  );
  const perIntent = INTENT_CODES.map((does) => SIGNAL_WEIGHTS.intent * intentAgreement(evidence.wanted, does));
  const base = index.scratch.base;
  const { firstServer, intents } = index;
  for (let doc = 0; doc < base.length; doc++) {
    base[doc] =
      wordGain * (words[doc] as number) +
      meaningGain * (meanings[doc] as number) +
      nameGain * (name[doc] as number) +
      (perServer[firstServer[doc] as number] as number) +
      (perIntent[intents[doc] as number] as number);
  }
  for (const [doc, value] of evidence.learned) base[doc] = (base[doc] as number) + SIGNAL_WEIGHTS.learned * value;
  for (const doc of index.shared) {
    const servers = index.serversOf[doc] as readonly number[];
    let best = 0;
    for (const server of servers) best = Math.max(best, perServer[server] as number);
    base[doc] = (base[doc] as number) + best - (perServer[servers[0] as number] as number);
  }
  return base;
}

/** Returns whether a tool matches by more than its server and its intent. */
export function isSupported(evidence: Evidence, doc: number): boolean {
  return (evidence.meanings[doc] as number) > 0 || evidence.learned.has(doc);
}

const MAX_REST = 3;

type SecondLook = Record<'name forms' | 'name order' | 'name rest', number>;

/**
 * Compares the names of the first thirty with the query: a word in exactly the query's form (`issues`, not `issue`)
 * raises a tool, and so do neighbours of the query that are neighbours in the name: `create item on board` is
 * `create_item` rather than `create_board`. The rest of the name beyond the query lowers it.
 */
export function secondLook(index: RankIndex, evidence: Evidence, doc: number): SecondLook {
  const { words: name } = notesOn(index, doc);
  let forms = 0;
  let inOrder = 0;
  let rest = 0;
  let previous = '';
  for (const { lower, stem, mass } of name) {
    const asked = evidence.plan.forms.get(stem);
    if (asked !== undefined) forms += asked === lower ? 1 : -1;
    if (!evidence.plan.sureness.has(stem)) rest += mass;
    if (evidence.plan.pairs.has(`${previous} ${stem}`)) inOrder++;
    previous = stem;
  }
  return {
    'name forms': forms / Math.max(1, name.length),
    'name order': inOrder / Math.max(1, name.length - 1),
    'name rest': -Math.min(MAX_REST, rest),
  };
}
