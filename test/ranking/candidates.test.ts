import { expect, test } from 'vitest';
import { bestCandidates } from '../../src/ranking/candidates.ts';
import { buildRankIndex, planFor } from '../../src/ranking/rankIndex.ts';
import { baseScores, gatherEvidence, isSupported, SIGNAL_WEIGHTS } from '../../src/ranking/scoring/scoring.ts';
import { likeness } from '../../src/ranking/words/toolVectors.ts';
import { makeTool, SMALL_QUERIES, WITH_TABLE } from './smallCatalog.ts';

/** Verbs by nouns: a catalog large enough that some tools are skipped. */
const VERBS = 'create list get update delete send move copy search run stop share'.split(' ');
const NOUNS =
  'issue branch message invoice container folder page event user payment volume comment label report sheet email image task board customer shipment song recipe server'.split(
    ' ',
  );
const CATALOG = VERBS.flatMap((verb) =>
  NOUNS.flatMap((noun) =>
    ['one', 'two', 'three'].map((server) =>
      makeTool(server, `${verb}_${noun}`, { description: `${verb} the ${noun} ${server}` }),
    ),
  ),
);
const index = buildRankIndex(CATALOG, [], WITH_TABLE);

/** Queries with words that no tool has: only likeness decides, and most of the catalog is within reach. */
const FAR = [
  'violin melody',
  'delicious dinner',
  'photograph',
  'parcel courier',
  'currency',
  'athlete',
  'spreadsheet',
  'kitchen',
];

test('skipping tools does not change the first thirty results', () => {
  for (const query of [...SMALL_QUERIES.map(([text]) => text), ...FAR]) {
    const evidence = gatherEvidence(index, planFor(index, query), new Map());
    const base = baseScores(index, evidence);
    const all = CATALOG.map((_, doc) => {
      const alike = evidence.vector && index.vectors ? likeness(index.vectors, evidence.vector, doc) : 0;
      return { doc, alike, score: (base.values[doc] as number) + SIGNAL_WEIGHTS.likeness * alike };
    });
    const wanted = all
      .filter(({ doc, alike }) => isSupported(evidence, doc, alike))
      .sort((a, b) => b.score - a.score || a.doc - b.doc)
      .slice(0, 30)
      .map(({ doc }) => doc);
    const found = bestCandidates(index, evidence, base, 10).map(({ doc }) => doc);
    expect(found.sort((a, b) => a - b)).toEqual(wanted.sort((a, b) => a - b));
  }
});
