import { describe, expect, it } from 'vitest';
import type { ApprovalAnswer, ApprovalRequest } from '../../src/calls/policy/approval.ts';
import { UnaskedCalls } from '../../src/calls/policy/unasked.ts';
import { DEFAULT_SETTINGS } from '../../src/config/declaration/document.ts';
import { bench, toolsOf } from './support.ts';

const HOUR_MS = 60 * 60_000;
const TOOLS = toolsOf(
  ['drop', 'erase'].map((name) => ({
    name,
    description: name,
    inputSchema: { type: 'object' },
    annotations: { destructiveHint: true },
  })),
  'db',
);
const [DROP, ERASE] = [...TOOLS.keys()] as [string, string];

interface Offer {
  shown: { toolId: string; args: object };
  gone: AbortSignal;
  answer(answer: ApprovalAnswer): void;
}

/** Windows that open later: they see every question, and the test answers. */
function windows() {
  const offers: Offer[] = [];
  return {
    open: () => offers.filter(({ gone }) => !gone.aborted),
    later: {
      describe: ({ tool, args }: ApprovalRequest) => ({ toolId: tool.id, args }),
      offer: (shown: object, gone: AbortSignal, answer: Offer['answer']) =>
        void offers.push({ shown: shown as Offer['shown'], gone, answer }),
    },
  };
}

describe('the question of a call that reaches nobody', () => {
  function refusing(ports: Partial<Parameters<typeof bench>[2]> = {}) {
    const { open, later } = windows();
    return { open, ...bench(TOOLS, {}, { ...ports, later }) };
  }

  it('is kept once for equal calls, and "once" lets one of them through', async () => {
    const { open, run, fail, upstream } = refusing();
    for (let i = 0; i < 3; i++) expect((await fail(DROP, { id: 1 })).error).toBe('AUTH_REQUIRED');
    expect(open().map(({ shown }) => shown)).toEqual([{ toolId: DROP, args: { id: 1 } }]);
    open()[0]?.answer('once');
    expect(open()).toEqual([]);
    for (const [tool, args] of [
      [DROP, { id: 2 }],
      [ERASE, { id: 1 }],
    ] as const) {
      expect((await fail(tool, args)).error).toBe('AUTH_REQUIRED');
    }
    expect(upstream.calls).toEqual([]);
    // The session that was refused may have ended.
    await run(DROP, { id: 1 }, { session: {} });
    expect(upstream.calls).toHaveLength(1);
    expect((await fail(DROP, { id: 1 })).error).toBe('AUTH_REQUIRED');
  });

  it('is not answered by the permission for another call of the tool', async () => {
    const { open, run, fail, upstream } = refusing();
    await fail(DROP, { id: 1 });
    await fail(DROP, { id: 2 });
    open()[0]?.answer('once');
    expect((await fail(DROP, { id: 2 })).error).toBe('AUTH_REQUIRED');
    expect(upstream.calls).toEqual([]);
    await run(DROP, { id: 1 });
  });

  it('about a secret permits the secret that was refused, and no other that is shown alike', async () => {
    const shown = { token: '[MASKED]' };
    const finding = { kind: 'form', pointer: '/token', words: 'what looks like a secret', shown } as const;
    const plain = toolsOf([{ name: 'send', description: 'Sends.', inputSchema: { type: 'object' } }], 'db');
    const [SEND] = [...plain.keys()] as [string];
    const { open, later } = windows();
    const { run, fail, upstream } = bench(plain, {}, { later, findSecrets: () => [finding] });
    expect((await fail(SEND, { token: 'one' })).error).toBe('AUTH_REQUIRED');
    expect(open()[0]?.shown.args).toEqual(shown);
    open()[0]?.answer('once');
    expect((await fail(SEND, { token: 'two' })).error).toBe('AUTH_REQUIRED');
    await run(SEND, { token: 'one' });
    expect(upstream.calls.map(({ args }) => args)).toEqual([{ token: 'one' }]);
  });

  it('lets one of simultaneous calls through', async () => {
    const { open, run, fail, upstream } = refusing();
    await fail(DROP, {});
    open()[0]?.answer('once');
    const ends = await Promise.allSettled([1, 2, 3].map(() => run(DROP, {})));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(upstream.calls).toHaveLength(1);
  });

  it.each(['session', 'workspace'] as const)(
    '"%s" lets every call of the tool through, and withdraws the other questions about it',
    async (answer) => {
      const stored: string[] = [];
      const approvalStore = {
        load: () => stored,
        save: (keys: readonly string[]) => void stored.splice(0, stored.length, ...keys),
      };
      const { open, run, fail } = refusing({ approvalStore });
      for (const [tool, args] of [
        [DROP, { id: 1 }],
        [DROP, { id: 2 }],
        [ERASE, {}],
      ] as const)
        await fail(tool, args);
      open()[0]?.answer(answer);
      expect(open().map(({ shown }) => shown.toolId)).toEqual([ERASE]);
      await run(DROP, { id: 3 });
      const elsewhere = run(DROP, { id: 3 }, { session: {} });
      if (answer === 'workspace') await elsewhere;
      else await expect(elsewhere).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    },
  );

  it('is gone when it is denied, and another call asks again', async () => {
    const { open, fail } = refusing();
    await fail(DROP, {});
    open()[0]?.answer('denied');
    expect(open()).toEqual([]);
    expect((await fail(DROP, {})).error).toBe('AUTH_REQUIRED');
    expect(open()).toHaveLength(1);
  });

  it('is withdrawn while the user is asked about an equal call', async () => {
    const { open, later } = windows();
    const answers: ApprovalAnswer[] = ['unavailable', 'denied'];
    const asked: number[] = [];
    const approval = {
      ask: async () => {
        asked.push(open().length);
        return answers.shift() as ApprovalAnswer;
      },
    };
    const { fail } = bench(TOOLS, {}, { later, approval });
    expect((await fail(DROP, {})).error).toBe('AUTH_REQUIRED');
    expect(open()).toHaveLength(1);
    expect((await fail(DROP, {})).error).toBe('POLICY_DENIED');
    expect(asked).toEqual([0, 0]);
    expect(open()).toEqual([]);
  });

  it('is no permission for a call that a rule denies since', async () => {
    const { open, fail, pipeline, upstream } = refusing();
    await fail(DROP, {});
    open()[0]?.answer('once');
    pipeline.adopt({
      ...DEFAULT_SETTINGS,
      policy: { ...DEFAULT_SETTINGS.policy, rules: [{ action: 'deny', tool: 'drop' }] },
    });
    expect((await fail(DROP, {})).error).toBe('POLICY_DENIED');
    expect(upstream.calls).toEqual([]);
  });

  it('moves with its session to another worker, open or answered, as everything else of the session', async () => {
    const first = refusing();
    const session = {};
    let changes = 0;
    first.pipeline.watchMemory(session, () => {
      changes += 1;
    });
    await first.fail(DROP, {}, { session });
    await first.fail(ERASE, {}, { session });
    first.open()[1]?.answer('once');
    expect(changes).toBe(3);
    const memory: unknown = JSON.parse(JSON.stringify(first.pipeline.memoryOf(session)));
    const second = refusing();
    const moved = {};
    for (const given of [memory, memory, { unasked: [7, { call: 'x' }, null] }, { unasked: 'all' }]) {
      second.pipeline.remember(moved, given);
    }
    expect(second.open().map(({ shown }) => shown.toolId)).toEqual([DROP]);
    await second.run(ERASE, {}, { session: moved });
    expect((await second.fail(ERASE, {}, { session: moved })).error).toBe('AUTH_REQUIRED');
    second.open()[0]?.answer('once');
    await second.run(DROP, {}, { session: moved });
  });
});

describe('kept questions', () => {
  const request = (args: object, session: object = {}): ApprovalRequest => ({
    tool: TOOLS.get(DROP) as ApprovalRequest['tool'],
    args: args as ApprovalRequest['args'],
    reason: '',
    session,
    signal: new AbortController().signal,
  });

  function keeping() {
    let now = 0;
    const { open, later } = windows();
    const calls = new UnaskedCalls(later, { onAnswer: () => undefined, onChange: () => undefined, now: () => now });
    return { open, calls, pass: (ms: number) => (now += ms) };
  }

  it('are at most sixteen: the oldest is withdrawn', () => {
    const { open, calls } = keeping();
    for (let id = 0; id < 20; id++) calls.keep(request({ id }), DROP);
    expect(open().map(({ shown }) => shown.args)).toEqual(Array.from({ length: 16 }, (_, i) => ({ id: i + 4 })));
  });

  it('are none where the arguments are too long for the user to be shown all of them', () => {
    const { open, calls } = keeping();
    calls.keep(request({ body: 'x'.repeat(16_000) }), DROP);
    expect(open()).toEqual([]);
    calls.keep(request({ body: 'x'.repeat(15_000) }), DROP);
    expect(open()).toHaveLength(1);
  });

  it('end after a day, and so does a permission', () => {
    const { open, calls, pass } = keeping();
    calls.keep(request({ id: 1 }), DROP);
    pass(23 * HOUR_MS);
    open()[0]?.answer('once');
    calls.keep(request({ id: 2 }), DROP);
    pass(23 * HOUR_MS);
    expect(calls.permits(request({ id: 1 }), DROP)).toBe(true);
    expect(open()).toHaveLength(1);
    open()[0]?.answer('once');
    pass(25 * HOUR_MS);
    expect(calls.permits(request({ id: 2 }), DROP)).toBe(false);
    calls.keep(request({ id: 3 }), DROP);
    pass(25 * HOUR_MS);
    expect(calls.memoryOf({})).toBeUndefined();
    expect(open()).toEqual([]);
  });

  it('compare what a call sends, not the masked part that the user sees', () => {
    const { open, calls } = keeping();
    const masked = (secret: string): ApprovalRequest => ({
      ...request({ token: '[MASKED]' }),
      sent: { token: secret },
    });
    calls.keep(masked('one'), 'egress:db given');
    open()[0]?.answer('once');
    expect(calls.permits(masked('two'), 'egress:db given')).toBe(false);
    expect(calls.permits(masked('one'), 'egress:db given')).toBe(true);
  });

  it('are nowhere without a window to show them later', () => {
    const calls = new UnaskedCalls(undefined, { onAnswer: () => undefined, onChange: () => undefined });
    const session = {};
    calls.keep(request({}, session), DROP);
    expect(calls.memoryOf(session)).toBeUndefined();
  });
});
