import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { DEFAULT_SETTINGS, type Settings } from '../../src/config/declaration/document.ts';
import type { ServerState } from '../../src/control/serverStates.ts';
import { StartupGate, startupFlaw } from '../../src/modes/shared/startupGate.ts';

const flaw = (config: Partial<Settings['startup']>, states: ServerState[], toolCount = 1, required = true) =>
  startupFlaw({
    config: { ...DEFAULT_SETTINGS.startup, ...config },
    servers: states.map((state, i) => ({ name: `s${i}`, state, required })),
    toolCount,
  });

describe('a start', () => {
  it.each<[string, Partial<Settings['startup']>, ServerState[], number, string | undefined]>([
    ['needs no server by default', {}, ['failed'], 0, undefined],
    [
      'needs all required servers if it is strict',
      { mode: 'strict' },
      ['ready', 'failed', 'needs_approval'],
      1,
      '"startup" is strict, and these servers are not up: s1 (failed), s2 (needs approval).',
    ],
    ['counts a server that is not started as up', { mode: 'strict' }, ['ready', 'not_started'], 1, undefined],
    [
      'fails with fewer servers than the minimum',
      { minHealthyServers: 2 },
      ['ready', 'starting', 'failed'],
      1,
      '"startup" needs 2 servers, and 1 of 3 is up.',
    ],
    ['succeeds with the minimum of servers', { minHealthyServers: 2 }, ['ready', 'ready', 'failed'], 1, undefined],
    [
      'fails without tools if the configuration needs one',
      { failOnEmptyCatalog: true },
      ['ready'],
      0,
      '"startup" needs a tool, and the catalog has none.',
    ],
  ])('%s', (_, config, states, toolCount, expected) => {
    expect(flaw(config, states, toolCount)).toBe(expected);
  });

  it('does not wait for a server that is not required', () => {
    expect(flaw({ mode: 'strict' }, ['failed'], 1, false)).toBeUndefined();
  });

  it('waits while servers are starting, and is judged only once', async () => {
    let state: ServerState = 'starting';
    const gate = new StartupGate(() => ({
      config: { ...DEFAULT_SETTINGS.startup, mode: 'strict' },
      servers: [{ name: 'one', state, required: true }],
      toolCount: 1,
    }));
    const admitted = gate.admit();
    state = 'ready';
    await admitted;
    state = 'failed';
    await gate.admit();
  });

  it('gives servers that an edit starts later the same time', async () => {
    let state: ServerState = 'starting';
    const config = { ...DEFAULT_SETTINGS.startup, mode: 'strict', timeoutSeconds: 0.05 } as const;
    const gate = new StartupGate(() => ({ config, servers: [{ name: 'one', state, required: true }], toolCount: 1 }));
    await sleep(100);
    const admitted = gate.admit();
    state = 'ready';
    await admitted;
  });

  it('refuses calls after a failure, until it succeeds', async () => {
    let state: ServerState = 'failed';
    const gate = new StartupGate(() => ({
      config: { ...DEFAULT_SETTINGS.startup, mode: 'strict' },
      servers: [{ name: 'one', state, required: true }],
      toolCount: 1,
    }));
    await expect(gate.admit()).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      message: expect.stringMatching(/^Waygate does not serve yet: .*one \(failed\)\. Report this to the user\.$/),
    });
    state = 'ready';
    await gate.admit();
  });
});
