import { describe, expect, it } from 'vitest';
import { type Fault, faultOf } from '../../src/errors/fault.ts';
import type { KnownFaultCode } from '../../src/errors/faultCodes.ts';
import { ServerWatch, type WatchedServer } from '../../src/telemetry/serverEvents.ts';

const TOOLS = [{}];
const IDLE = { generation: 1, consecutive_failures: 0, restart_count: 0, supervision: 'idle' } as const;
const STARTED = { ...IDLE, supervision: 'starting' } as const;

const server = (
  state: WatchedServer['state'],
  health: WatchedServer['health'] = STARTED,
  more: Partial<WatchedServer> = {},
): WatchedServer => ({ name: 'files', state, tools: TOOLS, health, ...more });

const fault = (code: KnownFaultCode, generation: number, detail: string): Fault =>
  faultOf(code, { generation, detail }, (text) => text);

describe('the watch over servers', () => {
  it('reports each change once', () => {
    const watch = new ServerWatch();
    const look = (...args: Parameters<typeof server>) => watch.look([server(...args)]).map(({ event }) => event);
    expect(look('starting')).toEqual([]);
    expect(look('starting')).toEqual([]);
    expect(look('ready')).toEqual(['upstream.started']);
    expect(look('ready')).toEqual([]);
    expect(look('ready', STARTED, { tools: [{}, {}] })).toEqual(['upstream.list_changed']);
    const killed = { ...STARTED, consecutive_failures: 1, last_fault: fault('killed', 1, 'It exited unexpectedly.') };
    const again = { ...killed, generation: 2, restart_count: 1 };
    expect(look('starting', again)).toEqual(['upstream.crashed', 'upstream.restarting']);
    const failed = { ...again, consecutive_failures: 2, last_fault: fault('handshake_timeout', 2, 'no') };
    expect(look('failed', failed)).toEqual(['upstream.failed']);
    expect(look('failed', failed)).toEqual([]);
    const third = { ...failed, generation: 3, restart_count: 2 };
    expect(look('ready', third)).toEqual(['upstream.restarting', 'upstream.started']);
    expect(look('stopped', third)).toEqual(['upstream.stopped']);
    // An edited entry counts anew.
    expect(look('starting')).toEqual([]);
    expect(look('starting', again)).toEqual(['upstream.failed', 'upstream.restarting']);
  });

  it('treats a server that is idle or waits for the user as neither failed nor restarted', () => {
    const watch = new ServerWatch();
    const look = (...args: Parameters<typeof server>) =>
      watch.look([server(...args)]).map(({ event, attributes }) => [event, attributes]);
    expect(look('not_started', IDLE)).toEqual([]);
    const waits = { ...IDLE, supervision: 'needs_configuration', last_fault: fault('secret_missing', 1, 'x') } as const;
    expect(look('needs_secret', waits)).toEqual([['upstream.waiting', { generation: 1, state: 'needs_secret' }]]);
    expect(look('starting')).toEqual([]);
    expect(look('ready')).toEqual([['upstream.started', { generation: 1, tool_count: 1 }]]);
    expect(look('not_started', IDLE)).toEqual([['upstream.stopped', { generation: 1 }]]);
    const next = { ...STARTED, generation: 2 };
    expect(look('starting', next)).toEqual([]);
    expect(look('ready', next)).toEqual([['upstream.started', { generation: 2, tool_count: 1 }]]);
  });

  it("gives the reason in Waygate's words, and keeps the server's words in the fault", () => {
    const watch = new ServerWatch();
    const words = 'It answered with an error: no entry for hunter22. It said: hunter22';
    const refused = { ...STARTED, consecutive_failures: 1, last_fault: fault('initialize_refused', 1, words) };
    expect(watch.look([server('failed', refused)])).toMatchObject([
      {
        event: 'upstream.failed',
        attributes: {
          generation: 1,
          reason: 'It refused to be initialized (protocol/initialize_refused).',
          consecutive_failures: 1,
        },
        fault: { detail: `files: ${words}` },
      },
    ]);
    const crashed = { ...refused, last_fault: fault('killed', 1, words) };
    watch.look([server('ready', refused)]);
    expect(watch.look([server('failed', crashed)])[0]).toMatchObject({
      event: 'upstream.crashed',
      attributes: { reason: 'It was killed (process/killed).' },
    });
  });

  it('reports a server that left the configuration once, and forgets it', () => {
    const watch = new ServerWatch();
    watch.look([server('starting')]);
    expect(watch.look([])).toEqual([{ event: 'upstream.stopped', server: 'files', attributes: { generation: 1 } }]);
    expect(watch.look([])).toEqual([]);
  });
});
