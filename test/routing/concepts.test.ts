import { describe, expect, test } from 'vitest';
import { buildRankIndex, explainRanking, planFor } from '../../src/routing/rankIndex.ts';
import { compileThesaurus } from '../../src/routing/thesaurus.ts';
import { wholeVocabulary } from '../../src/routing/vocabulary/all.ts';
import { SMALL_CATALOG, SMALL_SERVERS } from './smallCatalog.ts';

function meaningsOf(text: string, key: string): string[] {
  const meanings = compileThesaurus([text]).meanings.get(key) ?? [];
  return meanings.map(({ stems, weight }) => `${stems.join(' ')} ${weight}`);
}

describe('lines of the vocabulary', () => {
  test('words of one line stand for each other, as surely as the less sure of both', () => {
    expect(meaningsOf('remark, comment, note~', 'remark')).toEqual(['comment 1', 'note 0.6']);
    expect(meaningsOf('remark, comment, note~', 'note')).toEqual(['remark 0.6', 'comment 0.6']);
  });

  test('an arrow goes one way', () => {
    expect(meaningsOf('gh > github, git~~', 'gh')).toEqual(['github 1', 'git 0.35']);
    expect(meaningsOf('gh > github, git~~', 'github')).toEqual([]);
  });

  test('underscores make phrases on both sides; the surer of two lines holds', () => {
    expect(meaningsOf('pr, pull_request\npull_request > pr~', 'pull request')).toEqual(['pr 1']);
    expect(meaningsOf('pr > pull_request', 'pr')).toEqual(['pull request 1']);
  });

  test('comments and empty lines say nothing', () => {
    expect(compileThesaurus(['# a, b\n\n']).meanings.size).toBe(0);
  });
});

describe('the vocabulary', () => {
  test('holds no word that stands for itself and no empty one', () => {
    for (const [key, meanings] of wholeVocabulary().meanings) {
      expect(key).toMatch(/^[^\s_,>~#]+( [^\s_,>~#]+)*$/);
      for (const { stems, weight } of meanings) {
        expect(stems.join(' ')).not.toBe(key);
        expect(weight).toBeGreaterThan(0);
        expect(weight).toBeLessThanOrEqual(1);
      }
    }
  });
});

describe('what a query asks for', () => {
  const index = buildRankIndex(SMALL_CATALOG, SMALL_SERVERS);
  const asked = (query: string) => planFor(index, query).concepts.map(({ label }) => label);

  test('phrases are found word for word, without the stop words between, and with a particle apart', () => {
    expect(asked('open a merge request')).toContain('merge request');
    expect(asked('shut the old container down')).toContain('shut down');
    expect(asked('the latest of the changes')).toContain('latest changes');
    expect(asked('merge all of what somebody else did with this request')).not.toContain('merge request');
  });

  test('the words of a phrase count less by themselves', () => {
    const weightOf = (query: string, label: string) =>
      Math.max(
        ...(planFor(index, query).concepts.find((concept) => concept.label === label)?.expansions ?? []).map(
          ({ weight }) => weight,
        ),
      );
    expect(weightOf('look up the mail', 'look')).toBeLessThan(weightOf('look for the mail', 'mail'));
  });

  test('in a long query words in other words count less', () => {
    const weightOf = (query: string) =>
      Math.max(
        ...(planFor(index, query).concepts.find(({ label }) => label === 'remark')?.expansions ?? []).map(
          ({ weight }) => weight,
        ),
      );
    const long = 'remark apple pear plum cherry walnut peach melon grape lemon quince fig';
    expect(weightOf('remark')).toBe(1);
    expect(weightOf(long)).toBeCloseTo(8 / 12, 5);
  });

  test('no other word weighs more than the word that was said', () => {
    const { hits } = explainRanking(index, 'list parcels', { topK: 10 });
    const own = hits.flatMap(({ contributions }) =>
      contributions.filter(({ from, what }) => from === 'word' && what === 'parcel'),
    );
    const other = hits.flatMap(({ contributions }) =>
      contributions.filter(({ from, what }) => from === 'meaning' && what.startsWith('parcels')),
    );
    expect(Math.max(...other.map(({ amount }) => amount))).toBeLessThan(Math.max(...own.map(({ amount }) => amount)));
  });
});
