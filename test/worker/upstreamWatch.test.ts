import { describe, expect, it } from 'vitest';
import { UpstreamWatch, type WatchedServer } from '../../src/worker/upstreamWatch.ts';

const TOOLS = [{}];
const server = (state: string, more: Partial<WatchedServer> = {}): WatchedServer => ({
  name: 'files',
  state,
  reason: undefined,
  tools: TOOLS,
  ...more,
});

describe('the watch over servers', () => {
  it('tells each change of state once, and keeps the history', () => {
    let now = 0;
    const watch = new UpstreamWatch(() => now);
    const look = (...args: Parameters<typeof server>) => watch.look([server(...args)]).map(({ event }) => event);
    expect(watch.record('files')).toEqual({ generation: 0, consecutive_failures: 0, restart_count: 0 });
    expect(look('starting')).toEqual([]);
    expect(look('starting')).toEqual([]);
    now = 70;
    expect(look('ready')).toEqual(['upstream.started']);
    expect(look('ready')).toEqual([]);
    expect(look('ready', { tools: [{}, {}] })).toEqual(['upstream.list_changed']);
    expect(watch.record('files')).toMatchObject({ generation: 1, readySince: 70, restart_count: 0 });
    expect(look('failed', { reason: 'It ended by itself (SIGKILL).' })).toEqual(['upstream.crashed']);
    expect(look('starting')).toEqual(['upstream.restarting']);
    expect(look('failed', { reason: 'no' })).toEqual(['upstream.failed']);
    expect(watch.record('files')).toMatchObject({
      generation: 2,
      consecutive_failures: 2,
      restart_count: 1,
      last_fault: {
        generation: 2,
        class: 'process',
        code: 'upstream_start_failed',
        directive: 'restart_and_replay',
        recovery_hint: 'replace_worker',
        detail: 'files: no',
      },
    });
    expect(watch.record('files')).not.toHaveProperty('readySince');
    look('starting');
    expect(look('ready')).toEqual(['upstream.started']);
    // What went wrong last stays known when all is well again.
    expect(watch.record('files')).toMatchObject({ generation: 3, consecutive_failures: 0, restart_count: 2 });
    expect(watch.record('files').last_fault?.code).toBe('upstream_start_failed');
    expect(look('stopped')).toEqual(['upstream.stopped']);
  });

  it('takes a server that is idle, or waits for somebody, for neither failed nor restarted', () => {
    const watch = new UpstreamWatch(() => 0);
    const look = (state: string) => watch.look([server(state)]).map(({ event, attributes }) => [event, attributes]);
    expect(look('not_started')).toEqual([]);
    expect(look('needs_secret')).toEqual([['upstream.waiting', { generation: 0, state: 'needs_secret' }]]);
    expect(look('starting')).toEqual([]);
    expect(look('ready')).toEqual([['upstream.started', { generation: 1, tool_count: 1 }]]);
    expect(look('not_started')).toEqual([['upstream.stopped', { generation: 1 }]]);
    expect(look('starting')).toEqual([]);
    expect(look('ready')).toEqual([['upstream.started', { generation: 2, tool_count: 1 }]]);
    expect(watch.record('files')).toMatchObject({ generation: 2, restart_count: 0, consecutive_failures: 0 });
    expect(watch.record('files')).not.toHaveProperty('last_fault');
  });

  it('tells that a server has left the configuration, and forgets it', () => {
    const watch = new UpstreamWatch(() => 0);
    watch.look([server('starting')]);
    expect(watch.look([])).toEqual([{ event: 'upstream.stopped', server: 'files', attributes: { generation: 1 } }]);
    expect(watch.record('files').generation).toBe(0);
    expect(watch.look([])).toEqual([]);
  });
});
