import { describe, expect, it } from 'vitest';
import type { ToolPath } from '../../../src/control/toolContract.ts';
import { containing, pathsOf, ranked } from '../../../src/extension/tree/findItems.ts';
import { snapshot } from '../fixtures.ts';

const path = (at: string, description = '', more: Partial<ToolPath> = {}): ToolPath => {
  const server = at.split('/')[1] ?? '';
  const name = at.slice(at.lastIndexOf('/') + 1);
  return { path: at, toolId: `${server}:${name}#1`, name, description, safety: '', server, tokens: 120, ...more };
};

const PATHS = [
  path('/shop/orders/list_orders', 'Lists orders. A refund has an order.'),
  path('/shop/payments/refund_create', 'Pays back.', { safety: 'destructive', tokens: 1_240 }),
  path('/shop/payments/refund_list', 'Lists what was paid back.'),
];

describe('tools that contain a text', () => {
  it('are those with all words in the path, then those with them in the description', () => {
    const found = containing(PATHS, ' REFUND ');
    expect(found.map(({ label }) => label)).toEqual(['refund_create', 'refund_list', 'list_orders']);
    expect(found[0]).toMatchObject({
      description: '/shop/payments/refund_create',
      detail: '1.2k tokens · declared destructive · Pays back.',
    });
    expect(containing(PATHS, 'refund list orders').map(({ label }) => label)).toEqual(['list_orders']);
    expect(containing(PATHS, '')).toHaveLength(3);
  });

  it('are at most two hundred of ten thousand', () => {
    const many = Array.from({ length: 10_000 }, (_, i) => path(`/big/tool_${i}`, 'One of many.'));
    expect(containing(many, 'tool')).toHaveLength(200);
    expect(containing(many, 'many')).toHaveLength(200);
  });

  it('cannot disguise themselves by their text', () => {
    const [found] = containing([path('/a/b', '[x](command:y) $(zap)\u202e')], '');
    expect(found?.detail).not.toMatch(/\]\(|\$\(|\u202e/);
  });
});

it('all paths are asked for once for each revision, and again after a failure', async () => {
  let revision = 1;
  let asked = 0;
  const answers = [new Error('away'), undefined, undefined];
  const paths = pathsOf({
    status: async () => snapshot({ catalog: { revision, toolCount: 3, namespaceCount: 1, skipped: [] } }),
    request: (async () => {
      const failure = answers[asked++];
      if (failure) throw failure;
      return { revision, paths: PATHS };
    }) as never,
  });
  await expect(paths()).rejects.toThrow('away');
  for (let time = 0; time < 3; time++) expect((await paths()).paths).toHaveLength(3);
  expect(asked).toBe(2);
  revision = 2;
  expect(await paths()).toMatchObject({ revision: 2 });
  await paths();
  expect(asked).toBe(3);
});

describe('tools as an agent finds them', () => {
  const hits = ['shop:refund_list#1', 'gone:x#1', 'shop:list_orders#1'].map((toolId, i) => {
    return { toolId, score: 900 - i, contributions: [] };
  });
  const explanation = { query: 'q', confidence: 'good', words: [], concepts: [], intent: '', hits } as const;

  it('keep the order and the score of the ranking, and their label matches nothing that is typed', () => {
    const found = ranked(explanation, PATHS);
    expect(found.map(({ label, toolId }) => [label, toolId])).toEqual([
      ['1.', 'shop:refund_list#1'],
      ['3.', 'shop:list_orders#1'],
    ]);
    expect(found[0]?.description).toBe('refund_list · 900 · /shop/payments/refund_list');
  });
});
