import { describe, expect, it } from 'vitest';
import type { HttpServerConfig } from '../../../src/config/gatewayConfig.ts';
import { MAX_HELD_TASKS } from '../../../src/mcp/heldTask.ts';
import { OwnedTask } from '../../../src/modes/passthrough/ownedTask.ts';
import { TaskLedger } from '../../../src/modes/passthrough/taskLedger.ts';
import { SessionCall } from '../../../src/modes/shared/sessionCall.ts';
import { ServerConnection } from '../../../src/upstream/connection/serverConnection.ts';

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

describe('a task of a server', () => {
  function server(): ServerConnection {
    const config: HttpServerConfig = {
      name: 's',
      type: 'http',
      url: 'http://127.0.0.1:9/mcp',
      headers: {},
      disabled: false,
      keepAlive: false,
      location: { file: '', line: 1, column: 1 },
    };
    const events = { onChange: () => undefined, log: () => undefined, scrubSecrets: (text: string) => text };
    return new ServerConnection(config, { openLink: () => Promise.reject(new Error('not in this test')) }, events);
  }

  it('takes the place of one of the same name, and is what its server is asked for', () => {
    const { tasks, forgotten } = ledger();
    const connection = server();
    const own = (id: string, session: object): OwnedTask => {
      const held = { id, server: 's', serverTaskId: 't', toolId: 'i', upstreamName: 'u', ttl: null, since: 0 };
      const call = new SessionCall(undefined);
      return new OwnedTask(held, { session, connection, call, onExpired: () => undefined });
    };
    const [first, second] = [own('a', {}), own('b', {})];
    tasks.add(first);
    expect(tasks.at(connection, 't')).toBe(first);
    expect(connection.origins).toContain(first.call);
    tasks.add(second);
    expect(forgotten).toEqual(['a']);
    expect(tasks.at(connection, 't')).toBe(second);
    expect(tasks.allAt(connection)).toEqual([second]);
    // A server at a URL is not this worker's to lose.
    expect([second.isOpen, second.isInProcess, tasks.atStake]).toEqual([true, false, 0]);
    second.settle();
    expect(connection.origins).toEqual([]);
    expect(second.isOpen).toBe(false);
    tasks.forget(second);
    expect(tasks.at(connection, 't')).toBeUndefined();
  });

  it('is kept as it was told, but for what nobody could keep', () => {
    const { add } = ledger();
    const task = add({}, 'a');
    const told = { taskId: 'a', status: 'working', ttl: null, createdAt: 'c', lastUpdatedAt: 'l', more: 'kept' };
    task.note(told);
    expect(task.last).toEqual(told);
    task.note({ ...told, status: 'completed', statusMessage: 'x'.repeat(20_000), more: 'x'.repeat(20_000) });
    expect(task.last).toEqual({ taskId: 'a', status: 'completed', ttl: null, createdAt: 'c', lastUpdatedAt: 'l' });
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
