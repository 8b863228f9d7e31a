import { describe, expect, it } from 'vitest';
import { SERVER_STATES, type ServerState, serverState } from '../../src/control/serverStates.ts';

const states = Object.keys(SERVER_STATES) as ServerState[];

describe('the table of server states', () => {
  it('explains every state without tools to the model', () => {
    const silent = states.filter((state) => !serverState(state).isUp && state !== 'stopped');
    expect(silent.filter((state) => serverState(state).absent === undefined)).toEqual([]);
  });

  it('shows the user every state that needs an action', () => {
    const needing = states.filter((state) => serverState(state).needsPerson);
    expect(needing.length).toBeGreaterThan(3);
    expect(needing.filter((state) => !serverState(state).icon || !serverState(state).note)).toEqual([]);
  });
});
