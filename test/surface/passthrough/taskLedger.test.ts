import { describe, expect, it } from 'vitest';
import { MAX_HELD_TASKS } from '../../../src/ops/heldTask.ts';
import { OwnedTask } from '../../../src/surface/passthrough/ownedTask.ts';
import { TaskLedger } from '../../../src/surface/passthrough/taskLedger.ts';

/** What is remembered of tasks whose server is not there any more, which needs none. */
function ledger() {
  const forgotten: string[] = [];
  const tasks = new TaskLedger(({ id }) => forgotten.push(id));
  const add = (session: object, id: string, ttl: number | null = null): OwnedTask => {
    const held = { id, server: 's', serverTaskId: id, toolId: 'i', upstreamName: 'u', ttl, since: Date.now() };
    const task: OwnedTask = new OwnedTask(held, {
      session,
      connection: undefined,
      onExpired: () => tasks.forget(task),
    });
    tasks.add(task);
    return task;
  };
  return { tasks, add, forgotten };
}

describe('the tasks of sessions', () => {
  it('are each found by its own session alone', () => {
    const { tasks, add } = ledger();
    const [mine, theirs] = [{}, {}];
    const task = add(mine, 'a');
    add(theirs, 'b');
    expect(tasks.find(mine, 'a')).toBe(task);
    expect(tasks.find(theirs, 'a')).toBeUndefined();
    expect(tasks.find(mine, 7)).toBeUndefined();
    expect(tasks.of(mine)).toEqual([task]);
    tasks.forget(task);
    expect(tasks.of(mine)).toEqual([]);
    expect(tasks.of(theirs)).toHaveLength(1);
  });

  it('are bounded, whatever was begun at the same time', () => {
    const { tasks, add, forgotten } = ledger();
    const session = {};
    for (let i = 0; i <= MAX_HELD_TASKS; i++) add(session, `t${i}`);
    expect(tasks.of(session)).toHaveLength(MAX_HELD_TASKS);
    expect(forgotten).toEqual(['t0']);
    // What nobody waits for makes room for the next.
    expect(tasks.makeRoom(session)).toBe(true);
    expect(forgotten).toEqual(['t0', 't1']);
    expect(tasks.makeRoom({})).toBe(true);
  });

  it('are forgotten when they are as old as their server said that they get, and kept for ever where it said nothing', async () => {
    const { tasks, add } = ledger();
    const session = {};
    add(session, 'short', 1);
    const noted = add(session, 'ended', 40);
    const kept = add(session, 'endless');
    const far = add(session, 'far', 2 ** 40);
    // A task that has ended is kept for as long again.
    noted.note({ taskId: 'ended', status: 'completed', ttl: 2 ** 20 });
    await new Promise((done) => setTimeout(done, 80));
    expect(tasks.of(session)).toEqual([noted, kept, far]);
    for (const task of tasks.of(session)) tasks.forget(task);
  });
});

describe('a task that nobody runs', () => {
  it('is gone, and at stake for nobody', () => {
    const { tasks, add } = ledger();
    const task = add({}, 'a');
    expect([task.isGone, task.isOpen, task.isInProcess, task.isAdopted]).toEqual([true, false, false, true]);
    expect(tasks.atStake).toBe(0);
    task.note('no task' as never);
    expect(task.last).toBeUndefined();
  });
});
