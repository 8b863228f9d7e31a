import { describe, expect, it } from 'vitest';
import { FaultGateway, type FaultScript, type FaultStep, outcomeOf, UNDISTURBED } from '../support/faultGateway.ts';
import { until } from '../support/hostProcess.ts';
import { shared } from '../support/lifetime.ts';

/** HTTP servers that answer partly, late or not at all (M7.6). */

const during = (...actions: FaultStep['do']): FaultScript => ({ steps: [{ on: 'tools/call', nth: 1, do: actions }] });
const SHORT = { timeouts: { servers: { faulty: 1 } } };

const BROKEN = /^Error UPSTREAM_UNAVAILABLE: faulty exited or lost its connection/;
const LATE = /^Error UPSTREAM_TIMEOUT: faulty did not answer within 1 s/;
const LOST: readonly [nonce: string, actions: FaultStep['do'], words: RegExp][] = [
  ['resets the connection', ['reset'], BROKEN],
  ['breaks off in the middle', ['cut'], BROKEN],
  ['never sends the head of its answer', ['hang'], LATE],
  ['drips without a complete answer', ['drip'], LATE],
  ['stops in the middle', ['partial', 'hang'], LATE],
];

/** Steps for calls with these nonces, so that the tests share a gateway. */
const named = (rows: readonly (readonly [nonce: string, actions: FaultStep['do'], words: RegExp])[]): FaultScript => ({
  steps: rows.map(([nonce, actions]) => ({ on: 'tools/call', nonce, do: actions })),
});

describe.each([['json'], ['sse']] as const)('a server over HTTP that answers with %s', (http) => {
  const opened = shared(() => FaultGateway.open(named(LOST), { http, blocks: SHORT }));

  it.each(LOST)('and %s leaves the outcome unknown, and serves the next call', async (nonce, _actions, words) => {
    const gateway = opened();
    const [lost, other] = await Promise.all([gateway.act(nonce), gateway.other()]);
    expect(lost.text).toMatch(words);
    expect(outcomeOf(lost)).toBe('unknown');
    expect(other).toBe(UNDISTURBED);
    const next = await until('an answer', async () => {
      const answer = await gateway.act(`next-${Math.random()}`);
      return !answer.isError && answer;
    });
    expect(next.text).toContain('next');
    expect(gateway.effectsOf(nonce)).toBe(1);
  });

  it('and with a decompression bomb fails only that call, at the size limit', async () => {
    const gateway = await FaultGateway.open(during('gzip-bomb'), { http });
    const bombed = await gateway.act('bombed');
    expect(bombed.text).toMatch(/cannot be used: "an answer is beyond the limit of 16777216 bytes/);
    // The server ran the call, as over stdio.
    expect(outcomeOf(bombed)).toBe('failed');
    expect((await gateway.act('next')).text).toBe('ok\nnext\n');
    expect(await gateway.other()).toBe(UNDISTURBED);
  });
});

describe('a server over HTTP with resumable streams', () => {
  it.each<[string, string, boolean]>([
    ['sends the rest', 'replay', true],
    ['stays silent', 'hold', false],
    ['has forgotten the stream', '404', false],
    ['cannot resume', '405', false],
  ])('that %s when a stream is resumed loses that call at most', async (_what, get, isAnswered) => {
    const flags = ['--ids', '--get', get];
    const options = { http: 'sse', flags, blocks: { timeouts: { servers: { faulty: 2 } } } } as const;
    const gateway = await FaultGateway.open(during('cut', 'reply'), options);
    const [cut, other] = await Promise.all([gateway.act('cut'), gateway.other()]);
    expect(outcomeOf(cut)).toBe(isAnswered ? 'ok' : 'unknown');
    expect(cut.text).toMatch(isAnswered ? /^ok\ncut\n$/ : get === 'hold' ? /UPSTREAM_TIMEOUT/ : /UPSTREAM_UNAVAILABLE/);
    expect(other).toBe(UNDISTURBED);
    expect((await gateway.act('next')).text).toBe('ok\nnext\n');
    expect(gateway.effectsOf('cut')).toBe(1);
    expect(gateway.received.filter((line) => line.includes('"initialize"'))).toHaveLength(1);
    expect(gateway.received.filter((line) => /^GET \d/.test(line))).toHaveLength(1);
  });

  it.each(['hold', '404'])('loses no other call after a timeout (%s)', async (get) => {
    const options = { http: 'sse', flags: ['--ids', '--get', get], blocks: SHORT } as const;
    const steps = [{ on: 'tools/call', tool: 'act', do: [{ flood: 'log', count: 1 }, 'hang'] }];
    const gateway = await FaultGateway.open({ steps }, options);
    for (const nonce of ['a', 'b', 'c']) expect((await gateway.act(nonce)).text).toMatch(/^Error UPSTREAM_TIMEOUT/);
    expect((await gateway.act('d', 'echo')).text).toBe('ok\nd\n');
    expect(gateway.received.filter((line) => line.includes('"initialize"'))).toHaveLength(1);
    // The stream of a finished call is not resumed.
    expect(gateway.received.filter((line) => /^GET \d/.test(line))).toEqual([]);
  });
});

const HTML = { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Sign in</html>' };
const CANNOT_BE_USED = 'Error UPSTREAM_ERROR: faulty gave an answer that cannot be used: ';
const JSON_TYPE = { 'content-type': 'application/json' };
const strayAnswer = (id: string): Record<string, unknown> => ({
  status: 200,
  headers: JSON_TYPE,
  body: `{"jsonrpc":"2.0","id":${id},"result":{"content":[]}}`,
});
/** Answers after which nobody knows whether the call took effect, with words that say what the server sent. */
const UNKNOWN: readonly [nonce: string, actions: FaultStep['do'], words: string][] = [
  [
    '404',
    [{ status: 404, body: 'no such page' }],
    'Error UPSTREAM_ERROR: faulty answered with an error: "HTTP 404: no such page"',
  ],
  [
    '500',
    [{ status: 500, body: 'out of order' }],
    'Error UPSTREAM_ERROR: faulty answered with an error: "HTTP 500: out of order"',
  ],
  ['520', [{ status: 520 }], 'Error UPSTREAM_ERROR: faulty answered with an error: "HTTP 520"'],
  ['502', [{ status: 502 }], 'Error UPSTREAM_UNAVAILABLE: faulty is unavailable: "HTTP 502"'],
  ['HTML', [HTML], `${CANNOT_BE_USED}"HTTP 200 with text/html in place of an answer: <html>Sign in</html>"`],
  ['status 204', [{ status: 204 }], `${CANNOT_BE_USED}"HTTP 204 without an answer"`],
  ['status 202', [{ status: 202 }], `${CANNOT_BE_USED}"HTTP 202 without an answer"`],
  ['an empty body', [{ status: 200, headers: JSON_TYPE }], `${CANNOT_BE_USED}"`],
  [
    'the id of nobody',
    [strayAnswer('99999')],
    `${CANNOT_BE_USED}"an answer with an id that is not that of the request"`,
  ],
  [
    'an id of another type',
    [strayAnswer('"ID"')],
    `${CANNOT_BE_USED}"an answer with an id that is not that of the request"`,
  ],
  [
    'a stream without an answer',
    [{ status: 200, headers: { 'content-type': 'text/event-stream' }, body: ': bye\n\n' }],
    `${CANNOT_BE_USED}"a body that ended without an answer to the request"`,
  ],
];

/** A server with sessions may have forgotten one: the call is sent once more, in a new session, and never again. */
const NEW_SESSION_AFTER = '404';

describe.each([
  ['without a session', []],
  ['with a session', ['--session']],
])('a server over HTTP %s that answers a call', (_, flags) => {
  const steps = UNKNOWN.map(([nonce, actions]) => ({ on: 'tools/call', nonce, do: actions }));
  const opened = shared(() => FaultGateway.open({ steps }, { http: 'json', flags }));

  it.each(UNKNOWN)('with %s leaves the outcome unknown and says what came', async (nonce, _actions, words) => {
    const gateway = opened();
    const answer = await gateway.act(nonce);
    expect(answer.text).toContain(words);
    expect(answer.text).toContain('It may have taken effect: check before you repeat it.');
    expect(answer.text).toContain('outcome: unknown');
    expect(answer.text).not.toContain('retryable: true');
    expect((await gateway.act('next')).text).toBe('ok\nnext\n');
    expect(gateway.effectsOf(nonce)).toBe(flags.length > 0 && nonce === NEW_SESSION_AFTER ? 2 : 1);
  });
});

const REFUSED: readonly [nonce: string, actions: FaultStep['do'], words: RegExp][] = [
  ['503', [{ status: 503 }], /^Error UPSTREAM_UNAVAILABLE/],
  ['429', [{ status: 429, body: 'slow down' }], /^Error RATE_LIMITED: .*HTTP 429: slow down/],
  [
    'a redirect to a cloud metadata address',
    [{ status: 307, headers: { location: 'http://169.254.169.254/latest/meta-data' } }],
    /HTTP 307, a redirect to http:\/\/169\.254\.169\.254\/latest\/meta-data, which is not/,
  ],
];

describe('a server over HTTP that answers', () => {
  const opened = shared(() => FaultGateway.open(named(REFUSED), { http: 'json' }));

  it.each(REFUSED)('with %s gets its own error text, and serves the next call', async (nonce, _actions, words) => {
    const gateway = opened();
    expect((await gateway.act(nonce)).text).toMatch(words);
    expect((await gateway.act('next')).text).toBe('ok\nnext\n');
    expect(await gateway.other()).toBe(UNDISTURBED);
    expect(gateway.effectsOf(nonce)).toBe(1);
  });
});

describe('a server over HTTP that is unreachable', () => {
  it('is reported with the reason, gets no call, and the other server serves', async () => {
    const script = { steps: [{ on: 'initialize', do: ['reset'] }] };
    const gateway = await FaultGateway.open(script, { http: 'json', ready: false });
    const { reason } = await until('its reason', async () => {
      const faulty = await gateway.faulty();
      return faulty.state === 'failed' && faulty;
    });
    expect(reason).toMatch(/^The connection to http:\/\/127\.0\.0\.1:\d+ broke off/);
    expect(outcomeOf(await gateway.act('never'))).toBe('not_dispatched');
    expect(gateway.effects).toEqual([]);
    expect(await gateway.other()).toBe(UNDISTURBED);
  });
});
