import { describe, expect, it } from 'vitest';
import {
  FaultGateway,
  type FaultGatewayOptions,
  type FaultStep,
  outcomeOf,
  UNDISTURBED,
} from '../support/faultGateway.ts';

/** Malformed answers: each fails its own call and nothing else (M7.1). */

/** Applies the actions to the first call of the tool. The time limit of calls is much longer than "at once". */
const first = (...actions: FaultStep['do']): FaultStep => ({ on: 'tools/call', nth: 1, do: actions });
const raw = (frame: string): Record<string, unknown> => ({ raw: frame });
const SHORT = { blocks: { timeouts: { servers: { faulty: 1 } } } };
const DEEP = 100_000;

const MALFORMED: readonly [string, Record<string, unknown>][] = [
  ['no "jsonrpc"', raw('{"id":ID,"result":RESULT}')],
  ['both a result and an error', raw('{"jsonrpc":"2.0","id":ID,"result":RESULT,"error":{"code":1,"message":"no"}}')],
  ['a batch', raw('[JSON]')],
  ['a string as result', raw('{"jsonrpc":"2.0","id":ID,"result":"done"}')],
  ['neither result nor error', raw('{"jsonrpc":"2.0","id":ID}')],
  ['a duplicate member', raw('{"jsonrpc":"2.0","id":ID,"result":RESULT,"result":{"content":[]}}')],
  [
    'a duplicate member in its result',
    raw('{"jsonrpc":"2.0","id":ID,"result":{"isError":true,"isErro\\u0072":false}}'),
  ],
  ['a depth of 100,000', raw(`{"jsonrpc":"2.0","id":ID,"result":{"a":${'['.repeat(DEEP)}${']'.repeat(DEEP)}}}`)],
  ['a "_meta" that is not an object', raw('{"jsonrpc":"2.0","id":ID,"result":{"content":[],"_meta":"x"}}')],
  ['an answer that is not JSON', raw('{"jsonrpc":"2.0","id":ID,"result":{"content":[}}')],
];

const WAYS = [['stdio'], ['json'], ['sse']] as const;
const over = (way: (typeof WAYS)[number][0]): FaultGatewayOptions => (way === 'stdio' ? {} : { http: way });

describe.each(WAYS)('over %s, an answer with', (way) => {
  const options = over(way);

  it('any fault fails its call at once with an unknown outcome', async () => {
    const steps = MALFORMED.map(([, action], i) => ({ on: 'tools/call', nth: 2 * i + 1, do: [action] }));
    const gateway = await FaultGateway.open({ steps }, options);
    for (const [what] of MALFORMED) {
      const answer = await gateway.act(what);
      expect.soft(outcomeOf(answer), what).toBe('unknown');
      expect.soft(answer.text, what).toMatch(/^Error UPSTREAM_ERROR: faulty gave an answer that cannot be used: /);
      // Half of the time limit of a call: the call must fail without waiting for it.
      expect.soft(answer.ms, what).toBeLessThan(60_000);
      expect.soft(await gateway.act('fine'), what).toMatchObject({ isError: false, text: 'ok\nfine\n' });
    }
    // The server is never restarted.
    expect(new Set(gateway.lives).size).toBe(1);
    expect(await gateway.other()).toBe(UNDISTURBED);
  });

  it('an unknown or null member is read without that member', async () => {
    const spoilt = [
      '{"jsonrpc":"2.0","id":ID,"result":RESULT,"took":5}',
      '{"jsonrpc":"2.0","id":ID,"result":RESULT,"error":null}',
      '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"x"}],"_meta":null}}',
    ];
    const steps = spoilt.map((frame, i) => ({ on: 'tools/call', nth: i + 1, do: [raw(frame)] }));
    const gateway = await FaultGateway.open({ steps }, options);
    for (const frame of spoilt) expect.soft((await gateway.act('x')).text, frame).toBe('ok\nx\n');
  });

  it('a string as error code fails its call with the message of the server', async () => {
    const gateway = await FaultGateway.open(
      { steps: [first(raw('{"jsonrpc":"2.0","id":ID,"error":{"code":"E1","message":"it is shut"}}'))] },
      options,
    );
    expect((await gateway.act('a')).text).toContain('it is shut');
    expect((await gateway.act('b')).text).toBe('ok\nb\n');
  });

  it('invalid UTF-8 is read with replacement characters', async () => {
    const latin1 = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"caf\u00e9 au lait"}]}}';
    const gateway = await FaultGateway.open({ steps: [first({ latin1 })] }, options);
    expect((await gateway.act('a')).text).toBe('ok\ncaf\ufffd au lait\n');
    expect((await gateway.act('é😀')).text).toBe('ok\né😀\n');
  });
});

describe.each(WAYS)('over %s, an answer', (way) => {
  const options = over(way);

  it('whose id is a string or null answers no call: ids must match exactly', async () => {
    const gateway = await FaultGateway.open(
      {
        steps: [
          first(raw('{"jsonrpc":"2.0","id":"ID","result":RESULT}')),
          { on: 'tools/call', nth: 2, do: [raw('{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}')] },
        ],
      },
      { ...options, ...SHORT },
    );
    for (const nonce of ['text', 'null']) {
      const answer = await gateway.act(nonce);
      // Over HTTP the end of a body without an answer ends the wait.
      expect(answer.text).toMatch(way === 'stdio' ? /^Error UPSTREAM_TIMEOUT/ : /^Error UPSTREAM_UNAVAILABLE/);
      expect(outcomeOf(answer)).toBe('unknown');
    }
    expect((await gateway.act('after')).text).toBe('ok\nafter\n');
    expect(gateway.lives).toHaveLength(1);
  });

  // A JSON body holds one message.
  if (way !== 'json') {
    it('that is repeated or has an unknown id is ignored and restarts nothing', async () => {
      const stray = raw('{"jsonrpc":"2.0","id":999999,"result":{"content":[{"type":"text","text":"stray"}]}}');
      const actions = [stray, 'reply', raw('JSON'), raw('{"jsonrpc":"2.0","id":ID,"result":{}}')];
      const gateway = await FaultGateway.open({ steps: [{ on: 'tools/call', do: actions }] }, options);
      for (const nonce of ['a', 'b', 'c']) expect((await gateway.act(nonce)).text).toBe(`ok\n${nonce}\n`);
      expect(gateway.lives).toHaveLength(1);
      const ids = gateway.host.lines.map((line) => (JSON.parse(line) as { id: number }).id);
      expect(new Set(ids).size).toBe(ids.length);
    });
  }

  it('in a batch is read from a server whose protocol version has batches', async () => {
    const script = { version: '2025-03-26', steps: [first(raw('[JSON]'))] };
    const gateway = await FaultGateway.open(script, options);
    expect((await gateway.act('a')).text).toBe('ok\na\n');
  });

  it('that arrives late never reaches another call', async () => {
    const gateway = await FaultGateway.open({ steps: [first({ delay: 1_500 }, 'reply')] }, { ...options, ...SHORT });
    expect((await gateway.act('late')).text).toMatch(/^Error UPSTREAM_TIMEOUT/);
    const answers = await Promise.all(['a', 'b', 'c'].map((nonce) => gateway.act(nonce)));
    expect(answers.map(({ text }) => text)).toEqual(['ok\na\n', 'ok\nb\n', 'ok\nc\n']);
    await new Promise((done) => setTimeout(done, 1_000));
    expect((await gateway.act('d')).text).toBe('ok\nd\n');
  });

  it('reaches its own call in any order of answers', async () => {
    const delays = [90, 10, 50, 0, 70, 30, 20, 80, 60, 40];
    const steps = delays.map((delay, i) => ({ on: 'tools/call', nth: i + 1, do: [{ delay }, 'reply'] }));
    const gateway = await FaultGateway.open({ steps }, options);
    const nonces = delays.map((_, i) => `call-${i}`);
    const answers = await Promise.all(nonces.map((nonce) => gateway.act(nonce)));
    expect(answers.map(({ text }) => text)).toEqual(nonces.map((nonce) => `ok\n${nonce}\n`));
  });

  it.each([
    ['17 MB, the id first', { large: 17_000_000 }],
    ['17 MB, the id last', { large: 17_000_000, idLast: true }],
    ['100 MB', { large: 100_000_000 }],
  ])('of %s fails its own call, and the connection stays open', async (_what, action) => {
    const gateway = await FaultGateway.open({ steps: [first(action)] }, options);
    const [large, beside] = await Promise.all([gateway.act('large'), gateway.other()]);
    // Over HTTP the answer is not read to its end, so its size is unknown.
    expect(large.text).toMatch(/cannot be used: "an answer (of \d+ bytes )?is beyond the limit of 16777216/);
    expect(outcomeOf(large)).toBe('failed');
    expect(beside).toBe(UNDISTURBED);
    expect((await gateway.act('after')).text).toBe('ok\nafter\n');
    expect(gateway.lives).toHaveLength(1);
  });
});

// Over HTTP there are no lines between messages.
describe('over stdio, an answer', () => {
  it('may be surrounded by lines that are not messages: banners, colours, bytes, JSON logs', async () => {
    const noise = [
      raw('\u001b[31mWelcome!\u001b[0m'),
      raw('{"level":30,"msg":"json, but no message","id":ID}'),
      raw('{"method":"GET","path":"/"}'),
      { base64: Buffer.from([0, 255, 254, 10]).toString('base64') },
    ];
    const gateway = await FaultGateway.open({ steps: [{ on: 'tools/call', do: [...noise, 'reply', ...noise] }] });
    for (const nonce of ['a', 'b']) expect((await gateway.act(nonce)).text).toBe(`ok\n${nonce}\n`);
    expect(gateway.lives).toHaveLength(1);
  });
});
