import { describe, expect, it } from 'vitest';
import { TaskProgress } from '../../src/mcp/wire/taskProgress.ts';

function heard() {
  const progress = new TaskProgress();
  const told: unknown[] = [];
  const open = (over: AbortSignal): string => progress.open((params) => told.push(params.progress), over);
  return { progress, told, open };
}

describe('the progress of a task', () => {
  it('is heard under its own token until the task is over', () => {
    const { progress, told, open } = heard();
    const [first, second] = [new AbortController(), new AbortController()];
    const tokens = [open(first.signal), open(second.signal)];
    expect(new Set(tokens).size).toBe(2);
    for (const progressToken of tokens) expect(progress.tell({ progressToken, progress: progressToken })).toBe(true);
    first.abort();
    expect(tokens.map((token) => progress.has(token))).toEqual([false, true]);
    // It was a task's all the same.
    expect(progress.tell({ progressToken: tokens[0], progress: 'late' })).toBe(true);
    expect(told).toEqual(tokens);
  });

  it('is not that of a plain call', () => {
    const { progress, open } = heard();
    open(new AbortController().signal);
    expect(progress.tell({ progressToken: 1 })).toBe(false);
    expect(progress.tell({ progressToken: 'mine' })).toBe(false);
    expect(progress.has(1)).toBe(false);
  });

  it('of one that is over before it has begun is nobody’s', () => {
    const { progress, open } = heard();
    expect(progress.has(open(AbortSignal.abort()))).toBe(false);
  });

  it('of more than a thousand goes unheard, the oldest first', () => {
    const { progress, open } = heard();
    const tokens = Array.from({ length: 1_025 }, () => open(new AbortController().signal));
    expect(tokens.map((token) => progress.has(token)).indexOf(true)).toBe(1);
  });
});
