import { describe, expect, it } from 'vitest';
import type { ServerRemedy, ServerStatus } from '../../src/control/contract.ts';
import { SERVER_STATES, type ServerState } from '../../src/control/serverStates.ts';
import { COMMANDS } from '../../src/extension/contributions.ts';
import { needsOf, needsPerson, remedyStep, stateWords } from '../../src/extension/status/remedies.ts';
import { server, supervised } from './fixtures.ts';

const REMEDIES: Record<ServerRemedy['kind'], ServerRemedy> = {
  approve: { kind: 'approve' },
  review: { kind: 'review' },
  secret: { kind: 'secret', key: 'k' },
  sign_in: { kind: 'sign_in' },
  edit: { kind: 'edit', location: { file: 'waygate.json', line: 3, column: 5 } },
  restart: { kind: 'restart' },
  wait: { kind: 'wait', ms: 5_000 },
};
const states = Object.keys(SERVER_STATES) as ServerState[];

describe('the step of the user', () => {
  it.each(Object.values(REMEDIES))('has a button, a sentence and a command, and no command line: $kind', (remedy) => {
    const step = remedyStep(server('erp', { remedy }));
    expect(COMMANDS).toHaveProperty([step?.command ?? '']);
    expect(step?.button).toMatch(/^[A-Z]/);
    expect(step?.says).toMatch(/^[A-Z].*\.$/);
    expect(step?.says).not.toMatch(/`|waygate [a-z]/);
  });

  it('is none where the worker names none', () => {
    expect(remedyStep(server('erp'))).toBeUndefined();
  });
});

describe('the servers that need the user', () => {
  const of = (over: Partial<ServerStatus>) => needsOf([server('erp', over)]).map(({ says }) => says);

  it('are those whose state needs one, and those with changes that wait for a review', () => {
    const needing = states.filter((state) => needsPerson(server('erp', { state })));
    expect(needing.sort()).toEqual(['failed', 'needs_approval', 'needs_secret', 'needs_sign_in']);
    const held = [{ toolId: 'erp:a#1', part: 'tools' as const, name: 'a', why: 'changed' as const }];
    expect(needsPerson(server('erp', { held }))).toBe(true);
    expect(of({ held })).toEqual([expect.stringMatching(/^waits for your review: .*1 changed\.$/)]);
    expect(of({})).toEqual([]);
  });

  it('are described without their name, with a reason only where the button does not say it', () => {
    expect(of({ state: 'needs_approval', reason: 'It has not been approved' })).toEqual(['needs approval.']);
    expect(of({ state: 'failed', reason: 'It exited' })).toEqual(['failed: It exited.']);
    expect(
      of({ state: 'needs_secret', secret: { key: 'k', name: 'TOKEN', description: 'the token' } as never }),
    ).toEqual([expect.stringMatching(/^needs a secret: [Tt]he token\.$/)]);
  });

  it('have their restarts beside their state', () => {
    const words = stateWords(server('erp', { state: 'failed', supervised: supervised({ restart_count: 22 }) }));
    expect(words).toBe('failed · 22 restarts');
  });
});
