import { describe, expect, it } from 'vitest';
import type { ToolPath } from '../../../src/control/toolContract.ts';
import { containing, ranked } from '../../../src/extension/tree/findItems.ts';

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
