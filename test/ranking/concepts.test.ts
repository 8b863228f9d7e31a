import { describe, expect, test } from 'vitest';
import { buildRankIndex, explainRanking, planFor } from '../../src/ranking/rankIndex.ts';
import { SCORE_SCALE, SIGNAL_WEIGHTS } from '../../src/ranking/scoring/scoring.ts';
import { compileThesaurus } from '../../src/ranking/words/thesaurus.ts';
import { makeTool, SMALL_CATALOG, SMALL_SERVERS } from './smallCatalog.ts';

function meaningsOf(text: string, key: string): string[] {
  const meanings = compileThesaurus([text]).meanings.get(key) ?? [];
  return meanings.map(({ stems, weight }) => `${stems.join(' ')} ${weight}`);
}

describe('lines of the vocabulary', () => {
  test('words of one line are synonyms with the lower of both weights', () => {
    expect(meaningsOf('remark, comment, note~', 'remark')).toEqual(['comment 1', 'note 0.6']);
    expect(meaningsOf('remark, comment, note~', 'note')).toEqual(['remark 0.6', 'comment 0.6']);
  });

  test('an arrow works in one direction', () => {
    expect(meaningsOf('gh > github, git~~', 'gh')).toEqual(['github 1', 'git 0.35']);
    expect(meaningsOf('gh > github, git~~', 'github')).toEqual([]);
  });

  test('underscores form phrases on both sides; the higher weight of two lines counts', () => {
    expect(meaningsOf('pr, pull_request\npull_request > pr~', 'pull request')).toEqual(['pr 1']);
    expect(meaningsOf('pr > pull_request', 'pr')).toEqual(['pull request 1']);
  });

  test('comments and empty lines are ignored', () => {
    expect(compileThesaurus(['# a, b\n\n']).meanings.size).toBe(0);
  });
});

describe('concepts of a query', () => {
  const index = buildRankIndex(SMALL_CATALOG, SMALL_SERVERS);
  const asked = (query: string) => planFor(index, query).concepts.map(({ label }) => label);

  test('phrases are found word for word, without stop words in between, and with a separated particle', () => {
    expect(asked('open a merge request')).toContain('merge request');
    expect(asked('shut the old container down')).toContain('shut down');
    expect(asked('the latest of the changes')).toContain('latest changes');
    expect(asked('merge all of what somebody else did with this request')).not.toContain('merge request');
  });

  test('the words of a phrase count less on their own', () => {
    const weightOf = (query: string, label: string) =>
      Math.max(
        ...(planFor(index, query).concepts.find((concept) => concept.label === label)?.expansions ?? []).map(
          ({ weight }) => weight,
        ),
      );
    expect(weightOf('look up the mail', 'look')).toBeLessThan(weightOf('look for the mail', 'mail'));
  });

  test('expansions count less in a long query', () => {
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

  test('no expansion weighs more than the original word', () => {
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

describe('terms of a query', () => {
  const tools = [
    makeTool('gitlab', 'gitlab_list_boards', { description: 'List git boards of a lab.' }),
    makeTool('x', 'budget_report', { description: 'Rename it.' }),
    ...SMALL_CATALOG,
  ];
  const index = buildRankIndex(tools, []);
  const weights = (query: string) =>
    Object.fromEntries(planFor(index, query).terms.map(({ term, weight }) => [index.lexicon.stems[term], weight]));

  test('the parts of a joined name count little beside the name', () => {
    expect(weights('GitLab')).toEqual({ gitlab: 1, git: 0.2, lab: 0.2 });
    expect(weights('BudgetReport')).toEqual({ budget: 1, report: 1 });
  });

  test('words inside a value count less', () => {
    expect(weights('rename "budget report"')).toEqual({ renam: 1, budget: 0.5, report: 0.5 });
  });

  test('text beyond the first 500 characters or 64 words is ignored', () => {
    expect(weights(`${'z'.repeat(510)} branch`)).toEqual({});
    expect(weights(`${'zz '.repeat(70)}branch`)).toEqual({});
  });

  test('a repeated word counts twice at most', () => {
    expect(weights('branch branch branch branch')).toEqual({ branch: 2 });
  });

  test('a name that the query spells out counts fully, without the words of its server', () => {
    const nameOf = (query: string) =>
      explainRanking(index, query, { topK: 3 }).hits[0]?.contributions.find(({ from }) => from === 'name')?.amount;
    expect(nameOf('list boards')).toBe(SIGNAL_WEIGHTS.name * SCORE_SCALE);
    expect(nameOf('boards')).toBeLessThan(SIGNAL_WEIGHTS.name * SCORE_SCALE);
  });

  test('words of the name beyond the query lower the score', () => {
    const { hits } = explainRanking(index, 'boards', { topK: 3 });
    expect(hits[0]?.contributions.find(({ from }) => from === 'name rest')?.amount).toBeLessThan(0);
  });
});
