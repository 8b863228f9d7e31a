import { describe, expect, it } from 'vitest';
import { stepsDone } from '../../src/extension/walkthrough/firstSteps.ts';
import { attached, server } from './fixtures.ts';

const CALL = {
  id: 1,
  at: 0,
  session: 's1',
  client: 'code-server',
  metaTool: 'tool_browse',
  subject: '/',
  phase: 'done',
  durationMs: 3,
  attempts: 1,
  effect: 'none',
  handles: [],
} as const;

describe('the first steps', () => {
  it('are done one after the other by servers, an approval and a call of an agent', () => {
    const waiting = server('files', { state: 'needs_approval' });
    const step = (over: Parameters<typeof attached>[0]): string[] =>
      stepsDone([
        { link: { kind: 'off', reason: 'no_configuration' }, policy: undefined },
        { link: attached(over), policy: undefined },
      ]).map((key) => key.replace('waygate.step.', ''));
    expect(step({ servers: [] })).toEqual([]);
    expect(step({ servers: [waiting] })).toEqual(['import']);
    expect(step({ servers: [waiting, server('off', { state: 'disabled' })] })).toEqual(['import']);
    expect(step({ servers: [waiting, server('memory')] })).toEqual(['import', 'approve']);
    expect(step({ servers: [server('memory')], recentCalls: [{ ...CALL, session: 'you' }] })).toEqual([
      'import',
      'approve',
    ]);
    expect(step({ servers: [server('memory')], recentCalls: [CALL] })).toEqual(['import', 'approve', 'ask']);
  });
});
