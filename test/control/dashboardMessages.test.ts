import { describe, expect, it } from 'vitest';
import { type FromDashboard, parseFromDashboard, parseToDashboard } from '../../src/control/dashboardMessages.ts';

describe('a message of the dashboard page', () => {
  it.each<FromDashboard>([
    { type: 'ready' },
    { type: 'action', action: 'refresh' },
    { type: 'action', action: 'openConfiguration' },
    { type: 'action', action: 'showLog' },
    { type: 'openServer', server: 'files' },
    { type: 'openProblem', index: 0 },
  ])('is accepted if it is well-formed: %j', (message) => {
    expect(parseFromDashboard({ ...message, extra: 1 })).toEqual(message);
  });

  it.each([
    undefined,
    null,
    'ready',
    [],
    {},
    { type: 'constructor' },
    { type: 'action' },
    { type: 'action', action: 'workbench.action.quit' },
    { type: 'action', action: ['refresh'] },
    { type: 'openServer', server: 7 },
    { type: 'openProblem', index: '0' },
    { type: 'openProblem', index: 0.5 },
  ])('is dropped otherwise: %j', (message) => {
    expect(parseFromDashboard(message)).toBeUndefined();
  });
});

describe('a message to the dashboard page', () => {
  const summary = { level: 'ready', headline: 'h', problems: [] };
  const state = { now: 1, refreshing: false, live: true, quarantined: [], summary };

  it('is accepted if it is a whole state', () => {
    expect(parseToDashboard({ type: 'state', state })).toEqual({ type: 'state', state });
  });

  it.each([
    null,
    { type: 'other', state },
    { type: 'state' },
    { type: 'state', state: { ...state, now: 'x' } },
    { type: 'state', state: { ...state, live: 1 } },
    { type: 'state', state: { ...state, quarantined: 'x' } },
    { type: 'state', state: { ...state, summary: undefined } },
    { type: 'state', state: { ...state, summary: { headline: 'h' } } },
    { type: 'state', state: { ...state, snapshot: 'x' } },
  ])('is dropped otherwise: %j', (message) => {
    expect(parseToDashboard(message)).toBeUndefined();
  });
});
