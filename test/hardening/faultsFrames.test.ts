import { describe, expect, it } from 'vitest';
import {
  FaultGateway,
  type FaultGatewayOptions,
  type FaultStep,
  outcomeOf,
  UNDISTURBED,
} from '../support/faultGateway.ts';
import { until } from '../support/hostProcess.ts';
import { shared } from '../support/lifetime.ts';

/** Malformed answers: each fails its own call and nothing else (M7.1). */

/** Applies the actions to calls with this nonce. */
const at = (nonce: string, ...actions: FaultStep['do']): FaultStep => ({ on: 'tools/call', nonce, do: actions });
const raw = (frame: string): Record<string, unknown> => ({ raw: frame });
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

const SPOILT = [
  '{"jsonrpc":"2.0","id":ID,"result":RESULT,"took":5}',
  '{"jsonrpc":"2.0","id":ID,"result":RESULT,"error":null}',
  '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"PLACE"}],"_meta":null}}',
];
const LATIN1 = '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"caf\u00e9 au lait"}]}}';
const STRAY = raw('{"jsonrpc":"2.0","id":999999,"result":{"content":[{"type":"text","text":"stray"}]}}');
/** Delays of calls that are sent together, in milliseconds. */
const DELAYS = [90, 10, 50, 0, 70, 30, 20, 80, 60, 40];
const LARGE: readonly [string, Record<string, unknown>][] = [
  ['17 MB, the id first', { large: 17_000_000 }],
  ['17 MB, the id last', { large: 17_000_000, idLast: true }],
  ['100 MB', { large: 100_000_000 }],
];
const NOISE = [
  raw('\u001b[31mWelcome!\u001b[0m'),
  raw('{"level":30,"msg":"json, but no message","id":ID}'),
  raw('{"method":"GET","path":"/"}'),
  { base64: Buffer.from([0, 255, 254, 10]).toString('base64') },
];
/** Everything that the tests of one way to a server need: each has nonces of its own. */
const STEPS: readonly FaultStep[] = [
  ...MALFORMED.map(([what, action]) => at(what, action)),
  ...SPOILT.map((frame, i) => at(`spoilt ${i}`, raw(frame.replace('PLACE', `spoilt ${i}`)))),
  at('string code', raw('{"jsonrpc":"2.0","id":ID,"error":{"code":"E1","message":"it is shut"}}')),
  at('latin1', { latin1: LATIN1 }),
  ...['a', 'b', 'c'].map((nonce) =>
    at(`repeated ${nonce}`, STRAY, 'reply', raw('JSON'), raw('{"jsonrpc":"2.0","id":ID,"result":{}}')),
  ),
  ...DELAYS.map((delay, i) => at(`call-${i}`, { delay }, 'reply')),
  ...LARGE.map(([what, action]) => at(what, action)),
  ...['a', 'b'].map((nonce) => at(`noisy ${nonce}`, ...NOISE, 'reply', ...NOISE)),
];

const WAYS = [['stdio'], ['json'], ['sse']] as const;
const over = (way: (typeof WAYS)[number][0]): FaultGatewayOptions => (way === 'stdio' ? {} : { http: way });
/** The time limit of calls is much longer than "at once". */
const opened = (way: (typeof WAYS)[number][0]) => shared(() => FaultGateway.open({ steps: STEPS }, over(way)));
const SHORT = { blocks: { timeouts: { servers: { faulty: 1 } } } };

describe.each(WAYS)('over %s, an answer with', (way) => {
  const opening = opened(way);

  it('any fault fails its call at once with an unknown outcome', async () => {
    const gateway = opening();
    for (const [what] of MALFORMED) {
      const answer = await gateway.act(what);
      expect.soft(outcomeOf(answer), what).toBe('unknown');
      // A call that waited would end with a timeout.
      expect.soft(answer.text, what).toMatch(/^Error UPSTREAM_ERROR: faulty gave an answer that cannot be used: /);
      expect.soft(await gateway.act('fine'), what).toMatchObject({ isError: false, text: 'ok\nfine\n' });
    }
    // The server is never restarted.
    expect(new Set(gateway.lives).size).toBe(1);
    expect(await gateway.other()).toBe(UNDISTURBED);
  });

  it('an unknown or null member is read without that member', async () => {
    for (const [i, frame] of SPOILT.entries()) {
      expect.soft((await opening().act(`spoilt ${i}`)).text, frame).toBe(`ok\nspoilt ${i}\n`);
    }
  });

  it('a string as error code fails its call with the message of the server', async () => {
    expect((await opening().act('string code')).text).toContain('it is shut');
    expect((await opening().act('b')).text).toBe('ok\nb\n');
  });

  it('invalid UTF-8 is read with replacement characters', async () => {
    expect((await opening().act('latin1')).text).toBe('ok\ncaf\ufffd au lait\n');
    expect((await opening().act('é😀')).text).toBe('ok\né😀\n');
  });

  // A JSON body holds one message.
  if (way !== 'json') {
    it('its id twice, or an unknown id, is ignored and restarts nothing', async () => {
      const { host } = opening();
      for (const nonce of ['repeated a', 'repeated b', 'repeated c']) {
        expect((await opening().act(nonce)).text).toBe(`ok\n${nonce}\n`);
      }
      expect(opening().lives).toHaveLength(1);
      const ids = host.lines.map((line) => (JSON.parse(line) as { id: number }).id);
      expect(new Set(ids).size).toBe(ids.length);
    });
  }

  it('its own id reaches its own call in any order of answers', async () => {
    const nonces = DELAYS.map((_, i) => `call-${i}`);
    const answers = await Promise.all(nonces.map((nonce) => opening().act(nonce)));
    expect(answers.map(({ text }) => text)).toEqual(nonces.map((nonce) => `ok\n${nonce}\n`));
  });

  it.each(LARGE)('%s fails its own call, and the connection stays open', async (what) => {
    const gateway = opening();
    const [large, beside] = await Promise.all([gateway.act(what), gateway.other()]);
    // Over HTTP the answer is not read to its end, so its size is unknown.
    expect(large.text).toMatch(/cannot be used: "an answer (of \d+ bytes )?is beyond the limit of 16777216/);
    expect(outcomeOf(large)).toBe('failed');
    expect(beside).toBe(UNDISTURBED);
    expect((await gateway.act('after')).text).toBe('ok\nafter\n');
    expect(gateway.lives).toHaveLength(1);
  });

  // Over HTTP there are no lines between messages.
  if (way === 'stdio') {
    it('lines around it that are not messages: banners, colours, bytes, JSON logs', async () => {
      for (const nonce of ['noisy a', 'noisy b']) expect((await opening().act(nonce)).text).toBe(`ok\n${nonce}\n`);
      expect(opening().lives).toHaveLength(1);
    });
  }
});

describe.each(WAYS)('over %s, an answer', (way) => {
  const options = over(way);

  it('whose id is a string fails its call at once, and one without an id fails none', async () => {
    const steps = [
      at('text', raw('{"jsonrpc":"2.0","id":"ID","result":RESULT}')),
      at('null', raw('{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}')),
    ];
    const gateway = await FaultGateway.open({ steps }, { ...options, ...SHORT });
    for (const nonce of ['text', 'null']) {
      const answer = await gateway.act(nonce);
      // Over HTTP the end of a body without an answer ends the wait.
      const waits = way === 'stdio' && nonce === 'null';
      expect(answer.text).toMatch(
        waits ? /^Error UPSTREAM_TIMEOUT/ : /^Error UPSTREAM_ERROR: .* cannot be used: "an? /,
      );
      expect(outcomeOf(answer)).toBe('unknown');
    }
    expect((await gateway.act('after')).text).toBe('ok\nafter\n');
    expect(gateway.lives).toHaveLength(1);
  });

  it('in a batch is read from a server whose protocol version has batches', async () => {
    const gateway = await FaultGateway.open({ version: '2025-03-26', steps: [at('a', raw('[JSON]'))] }, options);
    expect((await gateway.act('a')).text).toBe('ok\na\n');
  });

  it('that arrives late never reaches another call', async () => {
    const steps = [at('late', { delay: 1_500 }, 'reply', { log: 'sent late' })];
    const gateway = await FaultGateway.open({ steps }, { ...options, ...SHORT });
    expect((await gateway.act('late')).text).toMatch(/^Error UPSTREAM_TIMEOUT/);
    const answers = await Promise.all(['a', 'b', 'c'].map((nonce) => gateway.act(nonce)));
    expect(answers.map(({ text }) => text)).toEqual(['ok\na\n', 'ok\nb\n', 'ok\nc\n']);
    await until('the late answer', () => gateway.received.includes('sent late'));
    expect((await gateway.act('d')).text).toBe('ok\nd\n');
  });
});
