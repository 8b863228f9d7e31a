import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, vi } from 'vitest';
import { OutgoingRequests } from '../../src/mcp/outgoingRequests.ts';

/** Returns requests to a client that answers by `say`, and what was sent to it. */
function requests(fails = false) {
  const sent: { message: JSONRPCMessage; related: unknown }[] = [];
  const all = new OutgoingRequests(async (message, options) => {
    if (fails) throw new Error('the connection is closed');
    sent.push({ message, related: options?.relatedRequestId });
  });
  const say = (message: object): boolean => all.take({ jsonrpc: '2.0', ...message } as JSONRPCMessage);
  return { all, sent, say };
}

const SECOND = { timeoutMs: 1_000 };

describe('requests to a client', () => {
  it('are answered by their ids, in any order', async () => {
    const { all, sent, say } = requests();
    const roots = all.request('roots/list', {}, { ...SECOND, relatedRequestId: 'call' });
    const sampling = all.request('sampling/createMessage', { maxTokens: 1 }, SECOND);
    expect(sent).toEqual([
      { message: { jsonrpc: '2.0', id: 0, method: 'roots/list', params: {} }, related: 'call' },
      {
        message: { jsonrpc: '2.0', id: 1, method: 'sampling/createMessage', params: { maxTokens: 1 } },
        related: undefined,
      },
    ]);
    expect(say({ id: 7, result: {} })).toBe(true);
    expect(say({ id: 1, result: { role: 'user' } })).toBe(true);
    expect(say({ id: 0, error: { code: -32601, message: 'No roots', data: { a: 1 } } })).toBe(true);
    expect(await sampling).toEqual({ role: 'user' });
    await expect(roots).rejects.toMatchObject({ code: -32601, message: 'No roots', data: { a: 1 } });
  });

  it('report the progress that was sent just before the answer, and none after it', async () => {
    const { all, sent, say } = requests();
    const progresses: unknown[] = [];
    const onProgress = (progress: unknown) => void progresses.push(progress);
    const asked = all.request('x', { _meta: { a: 1 } }, { ...SECOND, onProgress });
    expect(sent[0]?.message).toMatchObject({ params: { _meta: { a: 1, progressToken: 0 } } });
    const progress = (at: number): object => ({
      method: 'notifications/progress',
      params: { progressToken: 0, progress: at },
    });
    for (const at of [1, 2]) expect(say(progress(at))).toBe(true);
    say({ id: 0, result: {} });
    expect(say(progress(3))).toBe(true);
    await asked;
    expect(progresses).toEqual([{ progress: 1 }, { progress: 2 }]);
  });

  it('leave every other message to others', () => {
    const { say } = requests();
    expect(say({ method: 'notifications/initialized' })).toBe(false);
    expect(say({ id: 1, method: 'tools/call' })).toBe(false);
  });

  it('are cancelled at the client after their time limit', async () => {
    vi.useFakeTimers();
    try {
      const { all, sent } = requests();
      const asked = all.request('roots/list', {}, { ...SECOND, relatedRequestId: 'call' });
      const failed = expect(asked).rejects.toMatchObject({ code: -32001, data: { timeout: 1_000 } });
      await vi.advanceTimersByTimeAsync(999);
      expect(sent).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(1);
      await failed;
      expect(sent[1]).toMatchObject({
        message: { method: 'notifications/cancelled', params: { requestId: 0, reason: 'Request timed out' } },
        related: 'call',
      });
    } finally {
      vi.useRealTimers();
    }
  });

  it('have their time limit again after each progress, within the longest time', async () => {
    vi.useFakeTimers();
    try {
      const { all, sent, say } = requests();
      const onProgress = vi.fn();
      const limits = { ...SECOND, onProgress, longestMs: 2_500 };
      const failed = expect(all.request('tools/call', {}, limits)).rejects.toMatchObject({ data: { timeout: 2_500 } });
      const progress = (amount: unknown) =>
        say({ method: 'notifications/progress', params: { progressToken: 0, progress: amount } });
      for (const amount of [1, 2, 3]) {
        await vi.advanceTimersByTimeAsync(800);
        progress(amount);
      }
      await vi.advanceTimersByTimeAsync(99);
      expect(sent).toHaveLength(1);
      await vi.advanceTimersByTimeAsync(1);
      await failed;
      expect(sent).toHaveLength(2);
      expect(onProgress).toHaveBeenCalledTimes(3);
    } finally {
      vi.useRealTimers();
    }
  });

  it('have no more time after a progress without a number', async () => {
    vi.useFakeTimers();
    try {
      const { all, say } = requests();
      const onProgress = vi.fn();
      const limits = { ...SECOND, onProgress, longestMs: 2_500 };
      const failed = expect(all.request('tools/call', {}, limits)).rejects.toMatchObject({ data: { timeout: 1_000 } });
      await vi.advanceTimersByTimeAsync(800);
      say({ method: 'notifications/progress', params: { progressToken: 0, progress: 'half' } });
      say({ method: 'notifications/progress' });
      await vi.advanceTimersByTimeAsync(200);
      await failed;
      expect(onProgress).not.toHaveBeenCalled();
    } finally {
      vi.useRealTimers();
    }
  });

  it('are cancelled at the client with their signal, but not after the answer', async () => {
    const { all, sent, say } = requests();
    const [first, second] = [new AbortController(), new AbortController()];
    const cancelled = all.request('x', {}, { ...SECOND, signal: first.signal });
    const answered = all.request('y', {}, { ...SECOND, signal: second.signal });
    say({ id: 1, result: {} });
    await answered;
    second.abort();
    first.abort('enough');
    await expect(cancelled).rejects.toMatchObject({ code: -32001, message: 'enough' });
    expect(sent.slice(2).map(({ message }) => message)).toEqual([
      { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 0, reason: 'enough' } },
    ]);
    await expect(all.request('z', {}, { ...SECOND, signal: first.signal })).rejects.toBe('enough');
    expect(sent).toHaveLength(3);
  });

  it('fail when the connection ends, and when it takes no message', async () => {
    const { all } = requests();
    const asked = all.request('x', {}, SECOND);
    all.close();
    await expect(asked).rejects.toMatchObject({ code: -32000 });
    await expect(all.request('y', {}, SECOND)).rejects.toMatchObject({ code: -32000 });
    await expect(requests(true).all.request('x', {}, SECOND)).rejects.toThrow('the connection is closed');
  });
});
