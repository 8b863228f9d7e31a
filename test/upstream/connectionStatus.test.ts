import { expect, it } from 'vitest';
import { ConnectionStatus, type StatusFacts } from '../../src/upstream/connection/connectionStatus.ts';
import { LinkFailure } from '../../src/upstream/transports/upstreamLink.ts';

it('a server that needs a sign-in or a secret keeps that state while it starts again', () => {
  const states = (code: ConstructorParameters<typeof LinkFailure>[1]) => {
    let state: StatusFacts['state'] = 'starting';
    const failure = new LinkFailure('It failed.', code);
    const facts = (): StatusFacts => ({
      ...{ name: 'one', state, failure, hasRun: false, isKnown: true },
      ...{ slowNote: undefined, remark: undefined, staleNote: '' },
    });
    const status = new ConnectionStatus(true, { facts, log: () => undefined, onChange: () => undefined });
    return (['starting', 'backing_off'] as const).map((next) => {
      state = next;
      status.update();
      return status.state;
    });
  };
  expect(states('unauthorized')).toEqual(['needs_sign_in', 'needs_sign_in']);
  expect(states('secret_missing')).toEqual(['needs_secret', 'needs_secret']);
  expect(states('connection_lost')).toEqual(['failed', 'failed']);
});
