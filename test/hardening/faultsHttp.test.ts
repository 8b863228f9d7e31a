import { describe, expect, it } from 'vitest';
import { FaultGateway, type FaultScript, type FaultStep, toldBy, UNDISTURBED } from '../support/faultGateway.ts';
import { until } from '../support/hostProcess.ts';

/** Servers over HTTP that are half dead (facts/reliability.md §2.4). */

const during = (...actions: FaultStep['do']): FaultScript => ({ steps: [{ on: 'tools/call', nth: 1, do: actions }] });
const SHORT = { timeouts: { servers: { faulty: 1 } } };

describe.each([['json'], ['sse']] as const)('a server over HTTP that answers with %s', (http) => {
  it.each<[string, FaultStep['do'], RegExp]>([
    ['resets the connection', ['reset'], /^Error UPSTREAM_UNAVAILABLE: faulty ended or lost its connection/],
    ['breaks off in the middle', ['cut'], /^Error UPSTREAM_UNAVAILABLE: faulty ended or lost its connection/],
    ['never sends the head of its answer', ['hang'], /^Error UPSTREAM_TIMEOUT: faulty did not answer within 1 s/],
    ['drips without ever answering', ['drip'], /^Error UPSTREAM_TIMEOUT: faulty did not answer within 1 s/],
    ['stops in the middle', ['partial', 'hang'], /^Error UPSTREAM_TIMEOUT: faulty did not answer within 1 s/],
  ])('and %s leaves the outcome unknown, and serves the next call', async (_what, actions, words) => {
    const gateway = await FaultGateway.open(during(...actions), { http, blocks: SHORT });
    const [lost, other] = await Promise.all([gateway.act('lost'), gateway.other()]);
    expect(lost.text).toMatch(words);
    expect(toldBy(lost)).toBe('unknown');
    expect(other).toBe(UNDISTURBED);
    const next = await until('an answer', async () => {
      const answer = await gateway.act(`next-${Math.random()}`);
      return !answer.isError && answer;
    });
    expect(next.text).toContain('next');
    expect(gateway.effectsOf('lost')).toBe(1);
  });

  it('and a bomb in place of an answer fails that call alone, within its limit', async () => {
    const gateway = await FaultGateway.open(during('gzip-bomb'), { http });
    const bombed = await gateway.act('bombed');
    expect(bombed.isError).toBe(true);
    expect(toldBy(bombed)).toBe('unknown');
    expect((await gateway.act('next')).text).toBe('ok\nnext\n');
    expect(await gateway.other()).toBe(UNDISTURBED);
  });
});

describe('a server over HTTP that refuses', () => {
  it.each<[string, Record<string, unknown>, RegExp]>([
    ['500', { status: 500, body: 'out of order' }, /^Error UPSTREAM_ERROR: .*HTTP 500: out of order/],
    ['503', { status: 503 }, /^Error UPSTREAM_UNAVAILABLE/],
    ['429', { status: 429, body: 'slow down' }, /^Error RATE_LIMITED: .*HTTP 429: slow down/],
    [
      'a redirect into the network of a cloud',
      { status: 307, headers: { location: 'http://169.254.169.254/latest/meta-data' } },
      /HTTP 307, a redirect to http:\/\/169\.254\.169\.254\/latest\/meta-data, which is not/,
    ],
    ['a page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' }, /^Error UPSTREAM_/],
  ])('with %s is told in its words, and serves the next call', async (_what, action, words) => {
    const gateway = await FaultGateway.open(during(action), { http: 'json' });
    const refused = await gateway.act('refused');
    expect(refused.text).toMatch(words);
    expect((await gateway.act('next')).text).toBe('ok\nnext\n');
    expect(await gateway.other()).toBe(UNDISTURBED);
  });
});

describe('a server over HTTP that is not there', () => {
  it('is told so, nothing was sent to it, and the other serves', async () => {
    const script = { steps: [{ on: 'initialize', do: ['reset'] }] };
    const gateway = await FaultGateway.open(script, { http: 'json', ready: false });
    const { reason } = await until('its reason', async () => {
      const faulty = await gateway.faulty();
      return faulty.state === 'failed' && faulty;
    });
    expect(reason).toMatch(/^The connection to http:\/\/127\.0\.0\.1:\d+ broke off/);
    expect(toldBy(await gateway.act('never'))).toBe('not_dispatched');
    expect(gateway.effects).toEqual([]);
    expect(await gateway.other()).toBe(UNDISTURBED);
  });
});
