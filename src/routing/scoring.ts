import { queryIntent } from './intent.ts';
import { addNameCoverage } from './nameCoverage.ts';
import type { QueryPlan } from './queryWords.ts';
import type { RankIndex } from './rankIndex.ts';
import { namedServers, serverAffinity } from './serverEvidence.ts';
import { addConcept, addTerms } from './signals.ts';
import { likeness, queryVector } from './toolVectors.ts';

/** What a score is made of, in the order in which it is added up. */
export const SIGNALS = ['words', 'meanings', 'likeness', 'name', 'server named', 'server affinity', 'intent'] as const;
export type SignalName = (typeof SIGNALS)[number];

/** Few and round, chosen across all development sets together and never on one query. */
export const SIGNAL_WEIGHTS: Readonly<Record<SignalName, number>> = {
  words: 1,
  meanings: 0.5,
  likeness: 0.7,
  name: 0.1,
  'server named': 0.3,
  'server affinity': 0.1,
  intent: 0.15,
};

/** The unweighted value of every signal for every tool. */
export type SignalValues = Readonly<Record<SignalName, Float64Array>>;

export function signalValues(index: RankIndex, plan: QueryPlan): SignalValues {
  const size = index.tools.length;
  const values = Object.fromEntries(SIGNALS.map((name) => [name, new Float64Array(size)])) as Record<
    SignalName,
    Float64Array
  >;
  addTerms(index, plan.terms, values.words);
  let max = 0;
  for (const value of values.words) if (value > max) max = value;
  for (const concept of plan.concepts) addConcept(index, concept, index.scratch, values.meanings, 1);
  if (max === 0) for (const value of values.meanings) if (value > max) max = value;
  if (max > 0) {
    for (let doc = 0; doc < size; doc++) {
      values.words[doc] = (values.words[doc] as number) / max;
      values.meanings[doc] = (values.meanings[doc] as number) / max;
    }
  }
  if (index.vectors) {
    const vector = queryVector(index.vectors, plan.vectorWords);
    if (vector) for (let doc = 0; doc < size; doc++) values.likeness[doc] = likeness(index.vectors, vector, doc);
  }
  const nameTerms = new Map<number, number>();
  for (const [stem, sureness] of plan.sureness) {
    const term = index.lexicon.lookup(stem);
    if (term !== undefined) nameTerms.set(term, sureness);
  }
  addNameCoverage(index.names, nameTerms, values.name, 1);
  const named = namedServers(index.serverIndex, plan.words, plan.sureness);
  const affinity = serverAffinity(index.serverIndex, plan.terms);
  const wanted = queryIntent(plan.words);
  for (let doc = 0; doc < size; doc++) {
    const server = index.serverOf[doc] as number;
    values['server named'][doc] = named[server] as number;
    values['server affinity'][doc] = affinity[server] as number;
    const does = index.intents[doc];
    if (wanted !== 'unknown') values.intent[doc] = does === wanted ? 1 : does === 'unknown' ? 0.5 : 0;
  }
  return values;
}
