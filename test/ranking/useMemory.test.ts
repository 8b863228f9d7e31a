import { describe, expect, it } from 'vitest';
import { UseMemory } from '../../src/ranking/useMemory.ts';
import { temporaryFolder } from '../support/workspace.ts';

function memories(): { memory(): UseMemory; said: string[] } {
  const folder = temporaryFolder('waygate-uses-');
  const said: string[] = [];
  return { memory: () => new UseMemory(folder, (line) => said.push(line)), said };
}
const tools = (memory: UseMemory): string[] => memory.history.entries.map(({ toolId }) => toolId).sort();

describe('memory of use', () => {
  it('is visible to a worker that started before it was written', () => {
    const { memory, said } = memories();
    const [before, after] = [memory(), memory()];
    expect(tools(after)).toEqual([]);
    before.record('say a text', 'one:echo#1');
    before.flush();
    expect(tools(after)).toEqual(['one:echo#1']);
    expect(said).toEqual([]);
  });

  it('keeps the entries of two concurrent workers', () => {
    const { memory } = memories();
    const [before, after] = [memory(), memory()];
    before.record('say a text', 'one:echo#1');
    after.record('wait a while', 'one:wait#1');
    after.flush();
    before.flush();
    for (const one of [before, after, memory()]) expect(tools(one)).toEqual(['one:echo#1', 'one:wait#1']);
  });

  it('does not restore forgotten entries from another worker', () => {
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
