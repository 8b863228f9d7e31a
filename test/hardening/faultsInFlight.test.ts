import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stateFolder } from '../support/census.ts';
import { FaultGateway, type FaultStep, outcomeOf, UNDISTURBED } from '../support/faultGateway.ts';
import { HostProcess, isAlive, type ToolAnswer, until, withoutIdNote } from '../support/hostProcess.ts';

/** Servers that die or hang with calls in flight (O3). */

const first = (...actions: FaultStep['do']): FaultStep => ({ on: 'tools/call', nth: 1, life: 1, do: actions });
const logOf = ({ workspace }: FaultGateway): string => readFileSync(join(stateFolder(workspace), 'worker.log'), 'utf8');
const SHORT = { timeouts: { servers: { faulty: 1 } } };

describe('a server lost during a call', () => {
  it.each<[string, FaultStep['do']]>([
    ['by SIGKILL', ['sigkill']],
    ['by abort', ['abort']],
    ['by exit 0', [{ exit: 0 }]],
    ['in the middle of its answer', ['partial', 'sigkill']],
    ['because it closed its output', ['close-stdout', 'hang']],
  ])(
    '%s: the call gets one answer, outcome unknown, and the next call starts the server again',
    async (_what, actions) => {
      const gateway = await FaultGateway.open({ steps: [first(...actions)] });
      const [lost, other] = await Promise.all([gateway.act('lost'), gateway.other()]);
      expect(outcomeOf(lost)).toBe('unknown');
      expect(lost.text).toMatch(
        /^Error UPSTREAM_UNAVAILABLE: faulty exited or lost its connection during the call\. It may/,
      );
      expect(gateway.effectsOf('lost')).toBe(1);
      expect(other).toBe(UNDISTURBED);
      expect((await gateway.act('next')).text).toBe('ok\nnext\n');
      expect(gateway.lives).toHaveLength(2);
      expect(isAlive(gateway.lives[0] as number)).toBe(false);
      expect(gateway.effectsOf('lost')).toBe(1);
    },
  );

  it('is detected although its child holds the pipes, and the child is ended', async () => {
    const gateway = await FaultGateway.open({ steps: [first('grandchild', 'sigkill')] });
    const lost = await gateway.act('lost');
    expect(outcomeOf(lost)).toBe('unknown');
    expect((await gateway.act('next')).text).toBe('ok\nnext\n');
    expect(gateway.grandchildren).toHaveLength(1);
    expect(gateway.grandchildren.filter(isAlive)).toEqual([]);
  });

  it('gets the call again if the configuration says that it may be repeated', async () => {
    const blocks = { replay: { servers: { faulty: 'convergent' } }, retry: { maxAttempts: 3, baseDelay: 0.01 } };
    const gateway = await FaultGateway.open({ steps: [first('sigkill')] }, { blocks });
    expect((await gateway.act('again')).text).toBe('ok\nagain\n');
    expect(gateway.effectsOf('again')).toBe(2);
    expect(gateway.lives).toHaveLength(2);
  });

  it('fails every call in flight once, and no later call', async () => {
    const steps = [
      { on: 'tools/call', life: 1, nth: 10, do: ['sigkill'] },
      { on: 'tools/call', life: 1, do: ['hang'] },
    ];
    const gateway = await FaultGateway.open({ steps });
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => gateway.act(`n${i}`)));
    expect(answers.map(outcomeOf)).toEqual(Array.from({ length: 10 }, () => 'unknown'));
    expect((await gateway.act('next')).text).toBe('ok\nnext\n');
  });
});

describe('a call that crashes its server each time', () => {
  const replay = { servers: { faulty: 'convergent' } };
  const exits = { steps: [{ on: 'tools/call', do: [{ exit: 7 }] }] };

  it('gets an error that says so after two starts, and no call waits for the end of the crash loop', async () => {
    const gateway = await FaultGateway.open(exits, { blocks: { replay } });
    const answers = [];
    for (const nonce of ['a', 'b', 'c', 'd']) answers.push(await gateway.act(nonce));
    const [a, b, c, d] = answers.map(({ text }) => text);
    for (const text of [a, b]) {
      expect(text).toMatch(
        /^Error UPSTREAM_UNAVAILABLE: faulty exited each time it ran this\. Change the call, or use/,
      );
      expect(text).toMatch(/outcome: unknown\nfault: replay\/replay_exhausted\nattempts: 2\n$/);
    }
    // The fifth exit makes a crash loop: the third call is not replayed, and the fourth is not even sent.
    expect(c).toMatch(
      /faulty keeps exiting and is retried only once a minute\. It is safe to repeat after [3-6]\d s\.\noutcome: unknown\n/,
    );
    expect(d).toMatch(/ a minute\. Nothing was sent\. Call again after [3-6]\d s\.\noutcome: not_dispatched\n/);
    for (const text of [c, d]) {
      expect(text).toMatch(/fault: process\/crash_loop\nretry_after: \d\d\n(?:.*\n)*retryable: the same call may/);
    }
    expect(['a', 'b', 'c', 'd'].map((nonce) => gateway.effectsOf(nonce))).toEqual([2, 2, 1, 0]);
    expect(gateway.lives).toHaveLength(5);
    expect(await gateway.other()).toBe(UNDISTURBED);
    // The log names the exit, not a lost connection or a failed list.
    const log = logOf(gateway);
    expect(log).toMatch(/faulty:act\S*: UPSTREAM_UNAVAILABLE: .*exited: It exited unexpectedly \(exit code 7\)\./);
    expect(log).not.toMatch(/could not list|Connection closed/);
  });

  it('is detected if the server only closes its output, and no call shortens the crash loop', async () => {
    const gateway = await FaultGateway.open(
      { steps: [{ on: 'tools/call', do: ['close-stdout', 'hang'] }] },
      { blocks: { replay, retry: { maxAttempts: 5, baseDelay: 0.01 } } },
    );
    const answers = [];
    for (const nonce of ['a', 'b', 'c', 'd']) answers.push(await gateway.act(nonce));
    expect(answers[0]?.text).toContain('fault: replay/replay_exhausted');
    expect(answers[3]?.text).toContain('fault: process/crash_loop');
    expect(outcomeOf(answers[3] as ToolAnswer)).toBe('not_dispatched');
    expect(gateway.lives).toHaveLength(5);
  });
});

describe('a server that answers between its ends', () => {
  it('is restarted at once, however often it ends', async () => {
    const gateway = await FaultGateway.open({ steps: [{ on: 'tools/call', do: ['reply', { exit: 7 }] }] });
    for (let life = 1; life <= 7; life++) {
      expect((await gateway.act(`n${life}`)).text).toBe(`ok\nn${life}\n`);
      await until('the next process', () => gateway.lives.length > life);
    }
  });
});

describe('a running server that answers with an error', () => {
  it.each([
    ['with the code that the SDK uses for a lost connection', '{"code":-32000,"message":"login failed"}'],
    [
      'like the one that the SDK creates for a timeout',
      '{"code":-32001,"message":"login failed","data":{"timeout":60000}}',
    ],
  ])('%s is not treated as lost and is not restarted', async (_what, error) => {
    const raw = `{"jsonrpc":"2.0","id":ID,"error":${error}}`;
    const gateway = await FaultGateway.open({ steps: [first({ raw })] });
    const refused = await gateway.act('refused');
    expect(refused.text).toMatch(/^Error UPSTREAM_ERROR: faulty answered with an error: "login failed"\./);
    expect(outcomeOf(refused)).toBe('failed');
    expect((await gateway.act('next')).text).toBe('ok\nnext\n');
    expect(gateway.lives).toHaveLength(1);
  });
});

describe('a server that no longer reads', () => {
  it('because it closed its input is replaced, and every call gets an answer', async () => {
    const gateway = await FaultGateway.open({ steps: [first('reply', 'close-stdin')] }, { blocks: SHORT });
    expect((await gateway.act('a')).text).toBe('ok\na\n');
    const lost = await gateway.act('b');
    expect(lost.isError).toBe(true);
    expect(gateway.effectsOf('b')).toBe(0);
    expect(['unknown', 'not_dispatched']).toContain(outcomeOf(lost));
    await until('an answer', async () => !(await gateway.act(`c${Math.random()}`)).isError);
    expect(isAlive(gateway.lives[0] as number)).toBe(false);
    expect(await gateway.other()).toBe(UNDISTURBED);
  });

  it('leaves no call open, however much is sent, and is replaced', async () => {
    const gateway = await FaultGateway.open({ steps: [first('reply', 'stop-reading')] }, { blocks: SHORT });
    await gateway.act('a');
    const large = 'x'.repeat(300_000);
    const answers = await Promise.all(Array.from({ length: 80 }, (_, i) => gateway.act(`${i} ${large}`)));
    expect(answers.every(({ isError }) => isError)).toBe(true);
    // Calls beyond 8 MiB of queued data are not sent, and their answers say so.
    const outcomes = answers.map(outcomeOf);
    expect(outcomes).toContain('not_dispatched');
    expect(outcomes.filter((how) => how === 'failed' || how === 'ok')).toEqual([]);
    expect(await gateway.other()).toBe(UNDISTURBED);
    await until('an answer', async () => !(await gateway.act(`c${Math.random()}`)).isError);
    expect(gateway.effects.map(({ nonce }) => nonce).filter((nonce) => nonce.includes(large))).toEqual([]);
  });
});

describe('a server that misses the time limit of a call', () => {
  it('but answers other calls is not restarted', async () => {
    const gateway = await FaultGateway.open({ steps: [first('hang')] }, { blocks: SHORT });
    const hanging = gateway.act('hung');
    await until('its effect', () => gateway.effectsOf('hung') === 1);
    const beside = await gateway.act('beside');
    const hung = await hanging;
    expect(hung.text).toMatch(/^Error UPSTREAM_TIMEOUT: faulty did not answer within 1 s\./);
    expect(outcomeOf(hung)).toBe('unknown');
    expect(beside.text).toBe('ok\nbeside\n');
    await until('the ping', () => gateway.received.some((line) => line.includes('"method":"ping"')));
    expect((await gateway.act('after')).text).toBe('ok\nafter\n');
    expect(gateway.lives).toHaveLength(1);
  });

  it.each<[string, FaultStep['do']]>([
    ['and falls silent', ['block']],
    ['in the middle of a line', ['partial', 'hang']],
  ])('%s is pinged and replaced', async (_what, actions) => {
    const gateway = await FaultGateway.open({ steps: [first(...actions)] }, { blocks: SHORT });
    expect((await gateway.act('hung')).text).toMatch(/^Error UPSTREAM_TIMEOUT/);
    expect(await gateway.other()).toBe(UNDISTURBED);
    await until('its successor', () => gateway.lives.length === 2);
    expect(logOf(gateway)).toMatch(/faulty: lost: It stopped answering/);
    expect((await gateway.act('after')).text).toBe('ok\nafter\n');
    await until('its end', () => !isAlive(gateway.lives[0] as number));
    expect(gateway.effectsOf('hung')).toBe(1);
  });

  it('but reports progress gets a new time limit', async () => {
    const steps = [first({ delay: 2_000 }, { flood: 'progress', count: 1 }, { delay: 2_000 }, 'reply')];
    const gateway = await FaultGateway.open({ steps }, { blocks: { timeouts: { servers: { faulty: 3 } } } });
    expect((await gateway.act('slow')).text).toBe('ok\nslow\n');
  });
});

describe('a client', () => {
  it('that disconnects has its calls cancelled at the server', async () => {
    const gateway = await FaultGateway.spawn({ steps: [first('hang')] });
    void gateway.act('abandoned');
    await until('the call', () => gateway.effectsOf('abandoned') === 1);
    const other = await HostProcess.connect(gateway.workspace);
    gateway.host.child.kill('SIGKILL');
    await until('the cancellation', () => gateway.received.some((line) => line.includes('notifications/cancelled')));
    const answer = await other.call('tool_execute', { tool_id: 'faulty:act', args: { nonce: 'next' } });
    expect(withoutIdNote(answer).text).toBe('ok\nnext\n');
    expect(gateway.lives).toHaveLength(1);
  });

  it('that reuses an id in flight gets an error for the second request, and the first is unaffected', async () => {
    const gateway = await FaultGateway.open({ steps: [first({ delay: 500 }, 'reply')] });
    const params = { name: 'tool_execute', arguments: { tool_id: 'faulty:act', args: { nonce: 'one' } } };
    void gateway.host.request('tools/call', params, 'same');
    void gateway.host.request('tools/call', params, 'same');
    await until('both answers', () => gateway.host.lines.filter((line) => line.includes('"id":"same"')).length === 2);
    const [refused, done] = gateway.host.lines.filter((line) => line.includes('"id":"same"'));
    expect(JSON.parse(refused as string)).toMatchObject({ error: { code: -32600 } });
    expect(done).toContain('one');
    expect(gateway.effectsOf('one')).toBe(1);
  });
});
