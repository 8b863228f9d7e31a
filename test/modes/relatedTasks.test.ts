import { describe, expect, it } from 'vitest';
import { RELATED_TASK } from '../../src/mcp/mcpTask.ts';
import { asServerKnows, asShown, sessionCallsOf, taskCallOf } from '../../src/modes/shared/client/relatedTasks.ts';
import { SessionCall } from '../../src/modes/shared/sessionCall.ts';

function callOf(task?: { id: string; shownAs?: string }): SessionCall {
  const call = new SessionCall(undefined);
  if (task) call.task = task;
  return call;
}

describe('who began a task', () => {
  it('is found by its id, unless that is over', async () => {
    const [a, b] = [callOf({ id: 'a' }), callOf({ id: 'b' })];
    const origins = [callOf(), a, b];
    expect(await taskCallOf({ origins }, 'b')).toBe(b);
    expect(await taskCallOf({ origins }, 'c')).toBeUndefined();
    b.end();
    expect(await taskCallOf({ origins }, 'b')).toBeUndefined();
  });

  it('is waited for while one is being begun, and no longer than until it is known', async () => {
    const [slow, quick] = [callOf(), callOf()];
    const created = Promise.withResolvers<void>();
    slow.creating = new Promise(() => undefined);
    quick.creating = created.promise;
    const found = taskCallOf({ origins: [slow, quick] }, 'q');
    quick.task = { id: 'q' };
    created.resolve();
    expect(await found).toBe(quick);
  });

  it('is nobody where what was being begun is another task', async () => {
    const other = callOf();
    const created = Promise.withResolvers<void>();
    other.creating = created.promise;
    const found = taskCallOf({ origins: [other] }, 'q');
    other.task = { id: 'o' };
    created.resolve();
    expect(await found).toBeUndefined();
  });
});

describe('what a server says without the name of a task', () => {
  it('belongs to a plain call where there is one', () => {
    const [plain, task] = [callOf(), callOf({ id: 'a' })];
    expect(sessionCallsOf({ origins: [plain, task] })).toEqual([plain]);
    expect(sessionCallsOf({ origins: [task] })).toEqual([task]);
  });
});

describe('the name of a task', () => {
  const asked = { message: 'm', _meta: { [RELATED_TASK]: { taskId: 'a' } } };

  it('is the client’s to the client and the server’s to the server', () => {
    const call = callOf({ id: 'a', shownAs: 'one__a' });
    expect(asShown(asked, call)).toEqual({ message: 'm', _meta: { [RELATED_TASK]: { taskId: 'one__a' } } });
    const answer = { action: 'accept', _meta: { [RELATED_TASK]: { taskId: 'one__a' }, more: 1 } };
    expect(asServerKnows(answer, call, asked)).toEqual({
      action: 'accept',
      _meta: { [RELATED_TASK]: { taskId: 'a' }, more: 1 },
    });
    // Every message of a task names it, also the answer of a client that has left it out.
    expect(asServerKnows({ action: 'accept' }, call, asked)).toMatchObject({
      _meta: { [RELATED_TASK]: { taskId: 'a' } },
    });
  });

  it('is kept from a client that has begun none, and added to nothing that had it not', () => {
    expect(asShown(asked, callOf({ id: 'a' }))).toEqual({ message: 'm' });
    expect(asShown({ message: 'm' }, callOf({ id: 'a', shownAs: 'a' }))).toEqual({ message: 'm' });
    expect(asServerKnows({ action: 'accept' }, callOf({ id: 'a' }), { message: 'm' })).toEqual({ action: 'accept' });
  });
});
