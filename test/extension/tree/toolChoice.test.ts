import { describe, expect, it } from 'vitest';
import type { ToolPath } from '../../../src/control/toolContract.ts';
import { changesOf, costWords, toolChoices } from '../../../src/extension/tree/toolChoice.ts';

const path = (at: string, tokens: number, server = 'erp'): ToolPath => {
  const name = at.slice(at.lastIndexOf('/') + 1);
  return { path: at, toolId: `${server}:${name}#1`, name, description: '', safety: '', server, tokens };
};
const PATHS = [
  path('/erp/orders/get', 400),
  path('/erp/orders/add', 12_000),
  path('/erp/ping', 35_299),
  path('/crm/find', 7, 'crm'),
];
const EXCLUDED = ['old_*', 'add_user', 'odd[*]name', 'get'];

describe('the choice of tools', () => {
  const choices = toolChoices(PATHS, 'erp', EXCLUDED);

  it('lists the tools of one server by cluster, with those that an exact name hides', () => {
    expect(choices.map(({ label, group, picked }) => [label, group, picked])).toEqual([
      ['ping', '', true],
      ['add', 'orders', true],
      ['get', 'orders', true],
      ['add_user', 'Hidden', false],
      ['odd*name', 'Hidden', false],
    ]);
  });

  it('says what it costs', () => {
    expect(costWords(choices, choices.slice(1, 3))).toBe('12,400 of 47,699 tokens stay');
  });

  it('becomes the names to hide, and to offer again', () => {
    const kept = choices.filter(({ name }) => name !== 'ping');
    expect(changesOf(choices, kept)).toEqual({ exclude: ['ping'], include: ['add_user', 'odd*name'] });
    expect(
      changesOf(
        choices,
        choices.filter(({ picked }) => picked),
      ),
    ).toEqual({ exclude: [], include: [] });
  });
});
