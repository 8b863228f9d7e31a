import { describe, expect, it } from 'vitest';
import { advertisedNames } from '../../src/modes/shared/catalog/advertisedNames.ts';

const STRICT = /^[A-Za-z0-9_-]{1,64}$/;

describe('names for a strict client', () => {
  it('stay unchanged if they fit', () => {
    expect(advertisedNames([{ id: 'a:b#1', name: 'a_b-C' }])).toEqual(new Map([['a:b#1', 'a_b-C']]));
    expect(advertisedNames([{ id: '1', name: 'a.b' }], new Set(), 'prompt')).toEqual(new Map([['1', 'a.b']]));
  });

  it('have no dot for a tool, which model APIs refuse', () => {
    const all = [
      { id: '1', name: 'a.b' },
      { id: '2', name: 'a_b' },
    ];
    const names = [...advertisedNames(all).values()];
    expect(new Set(names).size).toBe(2);
    for (const name of names) expect(name).toMatch(STRICT);
  });

  it('are shortened to fit, and stay unique', () => {
    const all = [
      { id: '1', name: 'a.b c' },
      { id: '2', name: 'a.b/c' },
      { id: '3', name: 'x'.repeat(200) },
      { id: '4', name: `${'x'.repeat(200)}y` },
      { id: '5', name: '' },
      { id: '6', name: 'tool_view' },
    ];
    const names = advertisedNames(all, new Set(['tool_view']));
    expect(new Set(names.values()).size).toBe(all.length);
    for (const name of names.values()) expect(name).toMatch(STRICT);
    expect(names.get('6')).not.toBe('tool_view');
  });

  it('do not depend on the order of tools', () => {
    const all = [
      { id: '1', name: 'a b' },
      { id: '2', name: 'a/b' },
      { id: '3', name: 'c' },
    ];
    expect(new Map([...advertisedNames([...all].reverse())].sort())).toEqual(advertisedNames(all));
  });
});
