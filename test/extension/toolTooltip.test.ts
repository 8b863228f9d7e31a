import { expect, it } from 'vitest';
import type { ToolDetails } from '../../src/control/toolContract.ts';
import { toolTooltip } from '../../src/extension/tree/toolTooltip.ts';

const TOOL: ToolDetails = {
  toolId: 'erp:order_find#12345678',
  path: '/erp/order_find',
  server: 'erp',
  namespace: 'erp',
  name: 'order_find',
  title: 'Find an order',
  description: `Finds an order by its number. ${'All of it is shown. '.repeat(20)}End`,
  definition: {},
  signature: 'id: string, limit?: integer = 20',
  tokens: 240,
  safety: 'read_only',
  annotations: {},
  replay: 'never_replay',
  calls: 3,
  errors: 1,
  p95Ms: 12,
};

it('shows the whole description of a tool, its arguments, its cost and its use', () => {
  const parts = toolTooltip(TOOL);
  expect(parts.map(({ style }) => style)).toEqual(['title', 'code', 'code', 'text', 'text', 'text']);
  expect(parts[0]?.text).toBe('order_find: Find an order');
  expect(parts[2]?.text).toBe('order_find(id: string, limit?: integer = 20)');
  expect(parts[3]?.text).toMatch(/End$/);
  expect(parts[4]?.text).toBe('Its server declares it read-only. 240 tokens. A lost call is never repeated.');
  expect(parts[5]?.text).toBe('3 calls, 1 error, 95 % within 12 ms.');
});

it('says that a definition has changed since the user approved it', () => {
  const words = (tool: ToolDetails) => toolTooltip(tool).map(({ text }) => text);
  expect(words({ ...TOOL, before: { definition: {} } })).toContain(
    'It has changed since your approval. "Show What Changed" compares both.',
  );
  expect(words(TOOL).join()).not.toContain('approval');
});

it('leaves out what a tool does not have, and shows hidden characters', () => {
  const { title: _, p95Ms: __, ...rest } = TOOL;
  const plain: ToolDetails = {
    ...rest,
    description: 'safe\u202e',
    safety: '',
    replay: 'convergent',
    calls: 0,
    errors: 0,
  };
  expect(toolTooltip(plain).map(({ text }) => text)).toEqual([
    'order_find',
    'erp:order_find#12345678',
    'order_find(id: string, limit?: integer = 20)',
    'safe\\u202e',
    '240 tokens. A lost call is repeated.',
  ]);
});
