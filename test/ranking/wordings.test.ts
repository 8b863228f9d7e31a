import { describe, expect, test } from 'vitest';
import { buildRankIndex, explainRanking, rank } from '../../src/ranking/rankIndex.ts';
import { wordingsOf } from '../../src/ranking/words/queryWords.ts';
import { makeTool, SMALL_CATALOG, SMALL_QUERIES, SMALL_SERVERS } from './smallCatalog.ts';

const index = buildRankIndex(SMALL_CATALOG, SMALL_SERVERS);
const ids = (query: string) => rank(index, query, { topK: 10 }).hits.map(({ tool }) => tool.id);

describe('wordings', () => {
  test('a single wording is ranked as if there were no separator', () => {
    for (const [query] of SMALL_QUERIES) {
      expect(rank(index, ` ${query} | `, { topK: 10 })).toEqual(rank(index, query, { topK: 10 }));
      expect(rank(index, `${query} | ${query}`, { topK: 10 })).toEqual(rank(index, query, { topK: 10 }));
    }
  });

  test('the second wording finds what the first does not, on the server that one of them names', () => {
    expect(ids('mailroom zzyzx')[0]).not.toBe('mailroom:delete_message');
    expect(ids('mailroom zzyzx | delete message')[0]).toBe('mailroom:delete_message');
    expect(ids('delete | mailroom message')[0]).toBe('mailroom:delete_message');
  });

  test('a useless wording takes nothing from a good one', () => {
    const queries = SMALL_QUERIES.filter(([query, wanted]) => ids(query)[0] === wanted);
    const kept = queries.filter(([query, wanted]) => ids(`${query} | qqq zzz`)[0] === wanted);
    expect(kept).toHaveLength(queries.length);
  });

  test('the first wording counts most, and its form of a word holds', () => {
    const first = (query: string) => {
      const tools = ['pick_lemon', 'paint_lemon', 'weigh_plum', 'weigh_plums'].map((name) => makeTool('zoo', name));
      return rank(buildRankIndex([...tools, ...SMALL_CATALOG], []), query, { topK: 5 }).hits[0]?.tool.upstreamName;
    };
    expect(first('pick lemon | paint lemon')).toBe('pick_lemon');
    expect(first('paint lemon | pick lemon')).toBe('paint_lemon');
    expect(first('weigh plum | weigh plums')).toBe('weigh_plum');
    expect(first('weigh plums | weigh plum')).toBe('weigh_plums');
  });

  test('no phrase reaches from one wording into the next', () => {
    const { concepts } = explainRanking(index, 'throw | away the invoice', { topK: 3 });
    expect(concepts.map(({ asked }) => asked)).not.toContain('throw away');
    const whole = explainRanking(index, 'list branches | throw away the invoice', { topK: 3 });
    expect(whole.concepts.map(({ asked }) => asked)).toContain('throw away');
  });

  test('number and length are limited', () => {
    expect(wordingsOf('a|b|c|d|e|f')).toEqual(['a', 'b', 'c', 'd']);
    expect(wordingsOf(' | a || a | ')).toEqual(['a']);
    expect(wordingsOf(`x | ${'y'.repeat(2_000)}`)[1]).toHaveLength(500);
  });
});

describe('names that no tool mentions', () => {
  const unmentioned = (query: string) => rank(index, query, { topK: 10 }).unmentioned;

  test.each([
    ['page the engineer on call in PagerDuty', ['PagerDuty']],
    ['PagerDuty create incident', ['PagerDuty']],
    ['Zendesk list tickets | search Zendesk tickets', ['Zendesk']],
    ['create an issue in ServiceNow and Okta', ['ServiceNow', 'Okta']],
    ['list vaults in 1Password', ['1Password']],
  ])('are reported: %s', (query, names) => {
    expect(unmentioned(query)).toEqual(names);
  });

  test.each([
    'create an issue in gitforge',
    'Create an issue in GitForge',
    'Throw away the mail that I got from them',
    "reply to Dana's comment",
    'list VAT rates as CSV',
    'write "Globex" into the document',
    'open https://Example.org/Some/Page',
    'page the engineer on call in pagerduty',
  ])('are not: %s', (query) => {
    expect(unmentioned(query)).toEqual([]);
  });

  test('are known by any tool, server or argument', () => {
    const tools = [
      makeTool('zendesk', 'list_tickets'),
      makeTool('a', 'b', { description: 'Reads Opsgenie alerts.', properties: { wrikeId: {} } }),
    ];
    const here = buildRankIndex(tools, []);
    expect(rank(here, 'list Zendesk, Opsgenie, Wrike and Jira', { topK: 10 }).unmentioned).toEqual(['Jira']);
  });
});

describe('further tools', () => {
  test('of the best server are named, best first, if the answer is not certain', () => {
    const { hits, further, certain } = rank(index, 'have the parcel people do something for me tomorrow', { topK: 2 });
    expect(certain).toBe(false);
    expect(new Set(further.map(({ server }) => server))).toEqual(new Set([hits[0]?.tool.server]));
    expect(further.filter(({ id }) => hits.some(({ tool }) => tool.id === id))).toEqual([]);
    const all = SMALL_CATALOG.filter(({ server }) => server === hits[0]?.tool.server);
    expect(further.length + hits.filter(({ tool }) => tool.server === hits[0]?.tool.server).length).toBe(all.length);
  });

  test('are not named if the answer is certain, or if there is none', () => {
    expect(rank(index, 'list branches', { topK: 2 })).toMatchObject({ certain: true, further: [] });
    expect(rank(index, 'xyzzy', { topK: 2 })).toMatchObject({ certain: false, further: [] });
  });

  test('are at most forty', () => {
    const tools = Array.from({ length: 60 }, (_, i) => makeTool('one', `thing_${i}`, { description: `Thing ${i}.` }));
    const { further } = rank(buildRankIndex([...tools, ...SMALL_CATALOG], []), 'a thing for my wedding', { topK: 5 });
    expect(further).toHaveLength(40);
  });
});
