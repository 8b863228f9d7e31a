import { describe, expect, it } from 'vitest';
import { whyRanked } from '../../../src/extension/documents/whyRanked.ts';
import { CatalogView } from '../../../src/modes/shared/catalog/catalogView.ts';
import { explainRanking as explained, rank } from '../../../src/ranking/rankIndex.ts';

const TOOLS = [
  { name: 'delete_order', description: 'Deletes an order for good.', inputSchema: { type: 'object' } },
  { name: 'cancel_order', description: 'Cancels an order.', inputSchema: { type: 'object' } },
  { name: 'list_orders', description: 'Lists the orders of a customer.', inputSchema: { type: 'object' } },
];

const { index } = CatalogView.build([{ server: 'shop', tools: TOOLS }], 1);
const explainRanking = (query: string) => explained(index, query, { topK: 10 });

describe('why tools were ranked', () => {
  const explanation = explainRanking('delete the order');

  it('has the order and the scores of the search', () => {
    const text = whyRanked({ explanation, learned: [] });
    const shown = [...text.matchAll(/^### \d+\. `([^`]+)`: (\S+)$/gm)].map(([, id, score]) => [id, Number(score)]);
    expect(shown.length).toBeGreaterThan(1);
    expect(shown).toEqual(explanation.hits.map(({ toolId, score }) => [toolId, score]));
    const { hits } = rank(index, 'delete the order', { topK: 10 });
    expect(shown.map(([id]) => id)).toEqual(hits.map(({ tool }) => tool.id));
  });

  it('says how the query was understood, with words that count for nothing', () => {
    const text = whyRanked({ explanation: explainRanking('delete the zyxgrph'), learned: [] });
    expect(text).toContain('- Words that no tool has: `zyxgrph`');
    expect(text).toMatch(/- Words without weight: .*`the`/);
  });

  it('places the tool that the user expected, and names the words that it lacks', () => {
    const expected = explanation.hits.at(-1)?.toolId ?? '';
    const text = whyRanked({ explanation, expected, learned: [] });
    expect(text).toContain(`has place ${explanation.hits.length}`);
    expect(text).toMatch(/no contribution comes from .*`delete`/);
    const [first] = explanation.hits;
    expect(whyRanked({ explanation, expected: first?.toolId, learned: [] })).toContain('is the first hit');
    expect(whyRanked({ explanation, expected: 'a:b#1', learned: [] })).toContain('is not among the first');
  });

  it('quotes what use has taught about the hits alone', () => {
    const toolId = explanation.hits[0]?.toolId ?? '';
    const learned = [
      { words: ['drop'], toolId, uses: 3 },
      { words: ['other'], toolId: 'a:b#1', uses: 9 },
    ];
    const text = whyRanked({ explanation, learned });
    expect(text).toContain(`- \`drop\` → \`${toolId}\`, 3 times`);
    expect(text).not.toContain('other');
  });

  it('lets a query make no markup', () => {
    const text = whyRanked({ explanation: explainRanking('`x` [a](command:b)|order\u202e'), learned: [] });
    const outside = text.replace(/`[^`]*`/g, '');
    expect(outside).not.toMatch(/\[a\]|command:|\u202e/);
  });
});
