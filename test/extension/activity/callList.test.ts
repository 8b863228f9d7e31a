import { describe, expect, it } from 'vitest';
import { CallList, grouped, MAX_CALLS } from '../../../src/extension/activity/callList.ts';
import { AT, RUNNING, record } from './calls.ts';

const ids = (list: CallList): number[] => list.calls.map(({ id }) => id);

describe('the list of calls', () => {
  it('has the newest first, also of two workers whose ids overlap', () => {
    const list = new CallList('waygate');
    list.accept(1, [record(1), record(2)], AT);
    list.accept(2, [record(1, { at: AT + 50 })], AT);
    expect(list.calls.map(({ run, id }) => [run, id])).toEqual([
      [2, 1],
      [1, 2],
      [1, 1],
    ]);
  });

  it('is not set back by an older report', () => {
    const list = new CallList('waygate');
    list.accept(1, [record(1)], AT);
    expect(list.accept(1, [RUNNING], AT)).toEqual([]);
    expect(list.calls[0]?.phase).toBe('done');
    list.accept(1, [{ ...RUNNING, id: 2, durationMs: 500 }], AT);
    expect(list.accept(1, [{ ...RUNNING, id: 2, durationMs: 100 }], AT)).toEqual([]);
    expect(list.accept(1, [{ ...RUNNING, id: 2, phase: 'waiting', durationMs: 100 }], AT)).toHaveLength(1);
  });

  it('takes tokens and handles that are counted after the end of a call', () => {
    const list = new CallList('waygate');
    const { tokensIn: _, tokensOut: __, ...uncounted } = record(1);
    list.accept(1, [uncounted], AT);
    expect(list.accept(1, [record(1, { handles: ['h'] })], AT)).toHaveLength(1);
    expect(list.accept(1, [uncounted], AT)).toEqual([]);
    expect(list.calls[0]).toMatchObject({ tokensOut: 412, handles: ['h'] });
  });

  it('marks the calls of a worker that ended as lost, with their time until then, and keeps the others', () => {
    const list = new CallList('waygate');
    list.accept(1, [record(1), { ...RUNNING, id: 2, durationMs: 100 }], AT);
    expect(list.lose(AT + 400)).toMatchObject([{ id: 2, lost: true, durationMs: 500 }]);
    expect(list.calls).toMatchObject([{ id: 2, lost: true }, { id: 1 }]);
    expect(list.find({ run: 1, id: 1 })?.lost).toBeUndefined();
    expect(list.lose(AT + 500)).toEqual([]);
  });

  it('is bounded, and drops the oldest', () => {
    const list = new CallList('waygate');
    list.accept(
      1,
      Array.from({ length: MAX_CALLS + 20 }, (_, id) => record(id)),
      AT,
    );
    expect(ids(list)).toHaveLength(MAX_CALLS);
    expect(ids(list).at(-1)).toBe(20);
  });

  it('keeps calls that have not ended when it is cleared', () => {
    const list = new CallList('waygate');
    list.accept(1, [record(1), { ...RUNNING, id: 2 }, record(3)], AT);
    list.clear();
    expect(ids(list)).toEqual([2]);
  });

  it('groups by session and conversation; the group with the newest call is first', () => {
    const list = new CallList('waygate');
    const vscode = { session: 's2', client: 'Visual Studio Code' };
    list.accept(
      1,
      [
        record(1, { ...vscode, conversation: 'a' }),
        record(2),
        record(3, { ...vscode, conversation: 'b' }),
        record(4, { ...vscode, conversation: 'a' }),
      ],
      AT,
    );
    expect(grouped(list.calls).map(({ client, at, calls }) => [client, at - AT, calls.map(({ id }) => id)])).toEqual([
      ['Visual Studio Code', 1, [4, 1]],
      ['Visual Studio Code', 3, [3]],
      ['claude-code', 2, [2]],
    ]);
  });
});
