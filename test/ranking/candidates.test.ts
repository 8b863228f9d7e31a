import { expect, test } from 'vitest';
import { bestCandidates } from '../../src/ranking/candidates.ts';
import { buildRankIndex, planFor } from '../../src/ranking/rankIndex.ts';
import { baseScores, gatherEvidence, isSupported } from '../../src/ranking/scoring/scoring.ts';
import { makeTool, SMALL_QUERIES } from './smallCatalog.ts';

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
const index = buildRankIndex(CATALOG, []);

test('the first look finds the best thirty by their base scores', () => {
  for (const [query] of SMALL_QUERIES) {
    const evidence = gatherEvidence(index, planFor(index, query), new Map());
    const base = baseScores(index, evidence);
    const wanted = CATALOG.map((_, doc) => ({ doc, score: base[doc] as number }))
      .filter(({ doc }) => isSupported(evidence, doc))
      .sort((a, b) => b.score - a.score || a.doc - b.doc)
      .slice(0, 30)
      .map(({ doc }) => doc);
    const found = bestCandidates(index, evidence, base, 10).map(({ doc }) => doc);
    expect(found.sort((a, b) => a - b)).toEqual(wanted.sort((a, b) => a - b));
  }
});
