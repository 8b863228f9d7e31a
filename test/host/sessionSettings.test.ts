import { describe, expect, it } from 'vitest';
import { SessionSettings } from '../../src/host/sessionSettings.ts';

const told = (settings: SessionSettings): unknown[] =>
  settings.frames().map((frame) => {
    const { method, params } = JSON.parse(frame) as { method: string; params: unknown };
    return [method, params];
  });

describe('what a client has set', () => {
  it('is told to a new worker: the last level, and what is still subscribed to', () => {
    const settings = new SessionSettings();
    const note = (method: string, params: Record<string, unknown>) =>
      settings.note({ jsonrpc: '2.0', id: 1, method, params });
    note('logging/setLevel', { level: 'debug' });
    note('resources/subscribe', { uri: 'a:1', _meta: { progressToken: 1 } });
    note('resources/subscribe', { uri: 'a:2' });
    note('resources/unsubscribe', { uri: 'a:1' });
    note('logging/setLevel', { level: 'error' });
    note('tools/call', { name: 'x' });
    expect(told(settings)).toEqual([
      ['resources/subscribe', { uri: 'a:2' }],
      ['logging/setLevel', { level: 'error' }],
    ]);
  });

  it('is told by ids that are no client’s', () => {
    const settings = new SessionSettings();
    settings.note({ jsonrpc: '2.0', id: 1, method: 'logging/setLevel', params: { level: 'debug' } });
    const [{ id } = { id: '' }] = settings.frames().map((frame) => JSON.parse(frame) as { id: string });
    expect(settings.isAnswer(id)).toBe(true);
    expect(settings.isAnswer('waygate:1')).toBe(false);
    expect(settings.isAnswer(1)).toBe(false);
  });

  it('has a bound', () => {
    const settings = new SessionSettings();
    for (let i = 0; i < 3_000; i++) {
      settings.note({ jsonrpc: '2.0', id: i, method: 'resources/subscribe', params: { uri: `a:${i}` } });
    }
    expect(settings.frames()).toHaveLength(1_000);
  });
});
