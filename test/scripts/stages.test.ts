import { describe, expect, it } from 'vitest';
import { duration, partTimes, runStages, stageTable } from '../../scripts/lib/stages.mjs';

describe('stages', () => {
  it('run in their order, no more at the same time than there are lanes', async () => {
    const log: string[] = [];
    const ends = new Map<string, () => void>();
    const running = runStages(['a', 'b', 'c', 'd'], 2, async (name) => {
      log.push(`${name} begins`);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      log.push(`${name} ends`);
      return name.toUpperCase();
    });
    const end = async (name: string): Promise<void> => {
      ends.get(name)?.();
      await new Promise((resolve) => setImmediate(resolve));
    };
    expect(log).toEqual(['a begins', 'b begins']);
    await end('b');
    expect(log.slice(2)).toEqual(['b ends', 'c begins']);
    await end('a');
    await end('d');
    await end('c');
    expect((await running).map(({ name, result }) => name + result)).toEqual(['aA', 'bB', 'cC', 'dD']);
  });

  it('fail as a whole if one throws', async () => {
    await expect(runStages(['a'], 2, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  it('with a budget say so, and fail beyond it', () => {
    const parts = (agent: number) => [
      { name: 'window', seconds: 300 },
      { name: 'agent', seconds: agent },
    ];
    expect(partTimes(parts(112), { agent: 240 })).toEqual({
      words: 'window 5 min 0 s, agent 1 min 52 s of 4 min 0 s',
      failures: [],
    });
    expect(partTimes(parts(241), { agent: 240 }).failures).toEqual([
      { title: 'agent', words: 'It took 4 min 1 s; its budget is 4 min 0 s.' },
    ]);
  });

  it('are listed with their times', () => {
    expect([duration(0.4), duration(59.4), duration(59.6), duration(125)]).toEqual([
      '0 s',
      '59 s',
      '1 min 0 s',
      '2 min 5 s',
    ]);
    const stages = [
      { name: 'lint', words: '1 passed, 0 failed', seconds: 4 },
      { name: 'hardening', words: '200 passed, 1 failed', seconds: 95 },
    ];
    expect(stageTable(stages)).toBe(
      ['lint              4 s  1 passed, 0 failed', 'hardening  1 min 35 s  200 passed, 1 failed'].join('\n'),
    );
  });
});
