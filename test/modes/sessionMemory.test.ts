import { describe, expect, it } from 'vitest';
import type { SessionMemory } from '../../src/link/movingSession.ts';
import { remembering } from '../../src/modes/shared/sessionMemory.ts';
import { fixedGateway } from './fixedGateway.ts';

/** Creates a mode with the test's lists, and counts reads of them. */
function mode() {
  const state = { tools: ['one'] as unknown, version: [{}, {}] as readonly unknown[], looks: 0 };
  const { mode, context } = fixedGateway({});
  const shown = {
    tools: () => {
      state.looks += 1;
      return state.tools;
    },
    prompts: () => 'the same',
  };
  const settled = () => Promise.resolve();
  const served = remembering(mode, { calls: context.calls, shown, version: () => state.version, settled });
  return { state, list: (served.memory as SessionMemory).list };
}

describe('the mark of a list', () => {
  it('is equal for equal content only', () => {
    const [one, two, three] = [mode(), mode(), mode()];
    three.state.tools = ['two'];
    expect(one.list('tools')).toBe(two.list('tools'));
    expect(one.list('tools')).not.toBe(three.list('tools'));
    expect(one.list('resources')).toBeUndefined();
  });

  it('is computed once per version, and only on request', () => {
    const { state, list } = mode();
    list('prompts');
    expect(state.looks).toBe(0);
    const mark = list('tools');
    expect([list('tools'), list('prompts') && list('tools')]).toEqual([mark, mark]);
    expect(state.looks).toBe(1);
    for (const i of [0, 1]) {
      state.tools = [`changed ${i}`];
      state.version = state.version.map((part, at) => (at === i ? {} : part));
      expect(list('tools')).not.toBe(mark);
      expect(state.looks).toBe(i + 2);
    }
  });
});
