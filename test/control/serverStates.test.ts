import { describe, expect, it } from 'vitest';
import { SERVER_STATES, type ServerState, serverState } from '../../src/control/serverStates.ts';

const states = Object.keys(SERVER_STATES) as ServerState[];

describe('the table of server states', () => {
  it('explains to a model every state in which a server has no tools to list', () => {
    const silent = states.filter((state) => !serverState(state).isUp && state !== 'stopped');
    expect(silent.filter((state) => serverState(state).absent === undefined)).toEqual([]);
  });

  it('shows the user every state that needs the user', () => {
    const needing = states.filter((state) => serverState(state).needsPerson);
    expect(needing.length).toBeGreaterThan(3);
    expect(needing.filter((state) => !serverState(state).icon || !serverState(state).note)).toEqual([]);
  });
});
