import { describe, expect, it } from 'vitest';
import { UseMemory } from '../../src/ranking/useMemory.ts';
import { temporaryFolder } from '../support/workspace.ts';

function memories(): { memory(): UseMemory; said: string[] } {
  const folder = temporaryFolder('waygate-uses-');
  const said: string[] = [];
  return { memory: () => new UseMemory(folder, (line) => said.push(line)), said };
}
const tools = (memory: UseMemory): string[] => memory.history.entries.map(({ toolId }) => toolId).sort();

describe('what was learned from use', () => {
  it('is seen by a worker that was there before it was written', () => {
    const { memory, said } = memories();
    const [before, after] = [memory(), memory()];
    expect(tools(after)).toEqual([]);
    before.record('say a text', 'one:echo#1');
    before.flush();
    expect(tools(after)).toEqual(['one:echo#1']);
    expect(said).toEqual([]);
  });

  it('by two workers at once is lost by neither', () => {
    const { memory } = memories();
    const [before, after] = [memory(), memory()];
    before.record('say a text', 'one:echo#1');
    after.record('wait a while', 'one:wait#1');
    after.flush();
    before.flush();
    for (const one of [before, after, memory()]) expect(tools(one)).toEqual(['one:echo#1', 'one:wait#1']);
  });

  it('and is forgotten does not come back with what another one knew', () => {
    const { memory } = memories();
    const [before, after] = [memory(), memory()];
    before.record('say a text', 'one:echo#1');
    before.record('wait a while', 'one:wait#1');
    before.flush();
    expect(tools(after)).toHaveLength(2);
    after.forget('one:echo#1');
    before.record('draw a picture', 'one:picture#1');
    before.flush();
    for (const one of [before, after]) expect(tools(one)).toEqual(['one:picture#1', 'one:wait#1']);
    after.forget();
    expect(tools(before)).toEqual([]);
  });
});
