import { describe, expect, it } from 'vitest';
import { type FromDashboard, parseFromDashboard, parseToDashboard } from '../../src/control/dashboardMessages.ts';

describe('a message of the dashboard page', () => {
  it.each<FromDashboard>([
    { type: 'ready' },
    { type: 'action', action: 'refresh' },
    { type: 'action', action: 'restartServer', subject: 'files' },
    { type: 'action', action: 'openTool', subject: 'files:read#00000001' },
    { type: 'action', action: 'openProblem', subject: '0' },
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
    { type: 'action', action: 'openServer', subject: 7 },
    { type: 'action', action: 'openServer', subject: null },
    { type: 'action', action: 'openServer', subject: 'x'.repeat(4_001) },
  ])('is dropped otherwise: %j', (message) => {
    expect(parseFromDashboard(message)).toBeUndefined();
  });
});

describe('a message to the dashboard page', () => {
  const now = { level: 'ready', words: 'Ready', headline: 'h', figures: [], lines: [] };
  const state = { workspace: '', refreshing: false, live: true, needs: [], now };

  it('is accepted if it is a whole state', () => {
    expect(parseToDashboard({ type: 'state', state })).toEqual({ type: 'state', state });
  });

  it.each([
    null,
    { type: 'other', state },
    { type: 'state' },
    { type: 'state', state: { ...state, now: 'x' } },
    { type: 'state', state: { ...state, now: { ...now, headline: 1 } } },
    { type: 'state', state: { ...state, now: { ...now, figures: {} } } },
    { type: 'state', state: { ...state, now: { ...now, lines: 'x' } } },
    { type: 'state', state: { ...state, live: 1 } },
    { type: 'state', state: { ...state, needs: 'x' } },
    { type: 'state', state: { ...state, limits: { rows: 'x', buttons: [] } } },
    { type: 'state', state: { ...state, limits: { rows: [] } } },
    { type: 'state', state: { ...state, servers: [] } },
    { type: 'state', state: { ...state, tools: {} } },
  ])('is dropped otherwise: %j', (message) => {
    expect(parseToDashboard(message)).toBeUndefined();
  });
});
