import { describe, expect, it } from 'vitest';
import {
  createdTask,
  hasEnded,
  RELATED_TASK,
  readTask,
  relatedTask,
  relateTo,
  takesTasks,
} from '../../src/mcp/mcpTask.ts';

describe('a task of a server', () => {
  it('is read as far as possible', () => {
    const task = { taskId: 't', status: 'working', pollInterval: 7, statusMessage: 'busy', more: true };
    const { more: _more, ...read } = task;
    expect(readTask(task)).toEqual(read);
    expect(createdTask({ task })).toEqual(read);
    expect(readTask({ taskId: 't', status: 'new', pollInterval: -1, statusMessage: 4 })).toEqual({
      taskId: 't',
      status: 'new',
    });
  });

  it.each([undefined, null, 7, 'task', [], {}, { taskId: 't' }, { taskId: '', status: 'working' }])(
    '%j is not a task',
    (value) => {
      expect(readTask(value)).toBeUndefined();
      expect(createdTask({ task: value })).toBeUndefined();
    },
  );

  it('with an oversized id is rejected', () => {
    expect(readTask({ taskId: 'x'.repeat(1_024), status: 'working' })).toBeDefined();
    expect(readTask({ taskId: 'x'.repeat(1_025), status: 'working' })).toBeUndefined();
  });

  it('shows whether it has ended', () => {
    const ended = ['working', 'input_required', 'completed', 'failed', 'cancelled'].filter((status) =>
      hasEnded({ status }),
    );
    expect(ended).toEqual(['completed', 'failed', 'cancelled']);
  });
});

describe('the task capability', () => {
  it('is read exactly', () => {
    expect(takesTasks({ tasks: { requests: { tools: { call: {} } } } })).toBe(true);
    for (const tasks of [undefined, null, {}, { requests: {} }, { requests: { tools: {} } }, { requests: null }]) {
      expect(takesTasks({ tasks })).toBe(false);
    }
    expect(takesTasks(undefined)).toBe(false);
  });
});

describe('the task of a message', () => {
  it('is named in its _meta, and can be renamed or removed without other changes', () => {
    const message = { a: 1, _meta: { b: 2, [RELATED_TASK]: { taskId: 't', c: 3 } } };
    expect(relatedTask(message)).toBe('t');
    expect(relateTo('u', message)).toEqual({ a: 1, _meta: { b: 2, [RELATED_TASK]: { taskId: 'u', c: 3 } } });
    expect(relateTo(undefined, message)).toEqual({ a: 1, _meta: { b: 2 } });
    expect(relateTo(undefined, { a: 1, _meta: { [RELATED_TASK]: { taskId: 't' } } })).toEqual({ a: 1 });
    expect(relateTo('u', { a: 1 })).toEqual({ a: 1, _meta: { [RELATED_TASK]: { taskId: 'u' } } });
    for (const _meta of [undefined, null, {}, { [RELATED_TASK]: 't' }, { [RELATED_TASK]: { taskId: 7 } }]) {
      expect(relatedTask({ _meta })).toBeUndefined();
    }
  });
});
