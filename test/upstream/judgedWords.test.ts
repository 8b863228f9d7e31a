import { describe, expect, it } from 'vitest';
import { judgeThrown } from '../../src/upstream/connection/judgeThrown.ts';

const judged = (thrown: unknown) => {
  const { code, knowledge } = judgeThrown(thrown);
  return [code, knowledge];
};
const said = (words: string) => judged(new Error(words));
const waits = (more: object, words = 'x') => judgeThrown(Object.assign(new Error(words), more)).retryAfterSeconds;

const OTHER = ['upstream_error', 'completed'];

describe('a failure with only a text', () => {
  it.each([
    ['unauthorized', 'unauthorized'],
    ['Unauthorised', 'unauthorized'],
    ['user is unauthenticated', 'unauthorized'],
    ['authentication failed', 'unauthorized'],
    ['invalid api key', 'unauthorized'],
    ['invalid api-key', 'unauthorized'],
    ['invalid apikey given', 'unauthorized'],
    ['invalid token', 'unauthorized'],
    ['invalid credentials', 'unauthorized'],
    ['forbidden', 'forbidden'],
    ['permission denied', 'forbidden'],
    ['access denied', 'forbidden'],
    ['that is not permitted', 'forbidden'],
    ['rate limit hit', 'rate_limited'],
    ['rate-limited', 'rate_limited'],
    ['too many requests', 'rate_limited'],
    ['quota exceeded', 'rate_limited'],
  ])('%s: %s, answered', (words, code) => {
    expect(said(words)).toEqual([code, 'completed']);
  });

  it.each([
    ['it timed out', 'upstream_timeout'],
    ['timed-out', 'upstream_timeout'],
    ['a timedout call', 'upstream_timeout'],
    ['timeout', 'upstream_timeout'],
    ['connection refused', 'upstream_unavailable'],
    ['connection reset', 'upstream_unavailable'],
    ['connection closed', 'upstream_unavailable'],
    ['connection lost', 'upstream_unavailable'],
    ['socket hang up', 'upstream_unavailable'],
  ])('%s: %s, outcome unknown', (words, code) => {
    expect(said(words)).toEqual([code, 'outcome_unknown']);
  });

  it.each(['something else', 'reunauthorized', 'timeouts are set', 'incorporate limits', 'the deforbiddened', ''])(
    '%j is an upstream error',
    (words) => {
      expect(said(words)).toEqual(OTHER);
    },
  );

  it.each([
    ['403', 'forbidden', 'completed'],
    ['403: no', 'forbidden', 'completed'],
    ['403 - no', 'forbidden', 'completed'],
    ['403 – no', 'forbidden', 'completed'],
    ['HTTP 403', 'forbidden', 'completed'],
    ['got http/1.1 403 from it', 'forbidden', 'completed'],
    ['HTTP/2 403', 'forbidden', 'completed'],
    ['status 403', 'forbidden', 'completed'],
    ['status code 403', 'forbidden', 'completed'],
    ['status=403', 'forbidden', 'completed'],
    ['error code: (403)', 'forbidden', 'completed'],
    ['error 504 happened', 'upstream_timeout', 'outcome_unknown'],
    ['code:401', 'unauthorized', 'completed'],
    // A number counts before words.
    ['HTTP 429: timed out', 'rate_limited', 'completed'],
  ])('%s: the status decides', (words, ...expected) => {
    expect(said(words)).toEqual(expected);
  });

  it.each([
    'issue 4012',
    'issue 401',
    'error 4031',
    'error 403.5',
    '403 items',
    'listed 403: x',
    'error 203',
    'error 600',
    'HTTP/x 403',
    'anerror 403',
  ])('%s: contains no status', (words) => {
    expect(said(words)).toEqual(OTHER);
  });

  it('is judged by its beginning only', () => {
    expect(said(`${'x '.repeat(995)}timeout`)).toEqual(['upstream_timeout', 'outcome_unknown']);
    expect(said(`${'x '.repeat(1_000)}timeout`)).toEqual(OTHER);
  });
});

describe('a failure with a type', () => {
  it.each([
    ['EAI_AGAIN', 'connection_refused', 'not_dispatched'],
    ['ECONNABORTED', 'connection_lost', 'outcome_unknown'],
    ['EPIPE', 'connection_lost', 'outcome_unknown'],
    ['EHOSTUNREACH', 'connection_lost', 'outcome_unknown'],
    ['ENETUNREACH', 'connection_lost', 'outcome_unknown'],
    ['UND_ERR_SOCKET', 'connection_lost', 'outcome_unknown'],
    ['UND_ERR_HEADERS_TIMEOUT', 'call_timeout', 'outcome_unknown'],
    ['UND_ERR_BODY_TIMEOUT', 'call_timeout', 'outcome_unknown'],
  ])('is judged by the code %s', (code, ...expected) => {
    expect(judged(Object.assign(new Error('forbidden'), { code }))).toEqual(expected);
  });

  it.each([
    [{ status: 401 }, 'unauthorized', 'completed'],
    [{ statusCode: 407 }, 'unauthorized', 'completed'],
    [{ code: -32_700 }, 'upstream_error', 'completed'],
    [{ code: -32_600 }, 'upstream_error', 'completed'],
    [{ code: -32_601 }, 'upstream_error', 'completed'],
    [{ frame: 'malformed_response' }, 'malformed_response', 'outcome_unknown'],
    [{ failure: 'aborted' }, 'upstream_error', 'outcome_unknown'],
    [{ name: 'TimeoutError' }, 'call_timeout', 'outcome_unknown'],
    [{ name: 'AbortError' }, 'upstream_error', 'outcome_unknown'],
    [{ name: 'NotDispatchedError' }, 'not_running', 'not_dispatched'],
  ])('is judged by %j, whatever its text', (what, ...expected) => {
    expect(judged(Object.assign(new Error('timeout'), what))).toEqual(expected);
  });

  it('is not judged by properties that every object has', () => {
    expect(judged(Object.assign(new Error('x'), { name: 'toString', code: 'constructor', failure: {} }))).toEqual(
      OTHER,
    );
  });

  it('is not judged by a list that reads like a status', () => {
    expect(judged(Object.assign(new Error('x'), { status: ['401'] }))).toEqual(OTHER);
  });

  it('is judged by its cause, up to the fifth, even in a circular chain', () => {
    const chain = (length: number): Error =>
      length === 0 ? Object.assign(new Error('x'), { code: 'EPIPE' }) : new Error('x', { cause: chain(length - 1) });
    expect(judged(chain(4))).toEqual(['connection_lost', 'outcome_unknown']);
    expect(judged(chain(5))).toEqual(OTHER);
    const round = new Error('x');
    round.cause = round;
    expect(judged(round)).toEqual(OTHER);
  });

  it.each(['timeout', 42, null, undefined])('%j is judged by its text', (thrown) => {
    expect(judged(thrown)).toEqual(thrown === 'timeout' ? ['upstream_timeout', 'outcome_unknown'] : OTHER);
  });
});

describe('the wait before a retry', () => {
  it.each([
    ['retry after 7', 7],
    ['Retry-After: 7', 7],
    ['please try again in 2.5 seconds', 2.5],
    ['retry in 1.125s', 1.125],
    ['try again after 90 sec', 90],
    ['retry after 301', 300],
    ['retry after 0', 0],
    ['retry soon', undefined],
    ['noretry after 7', undefined],
    ['retry after it', undefined],
    ['retry after 7 apples', 7],
    ['Retry-After:7', 7],
    ['retry in 1second', 1],
  ])('%s: %s', (words, seconds) => {
    expect(waits({}, words)).toBe(seconds);
  });

  it.each([
    [{ retryAfterSeconds: 3, data: { retry_after: 4 } }, 3],
    [{ data: { retry_after: 4, retryAfter: 5 } }, 4],
    [{ data: { retryAfter: '5' } }, 5],
    [{ data: { retry_after: 'soon' } }, undefined],
    [{ data: { retry_after: 'soon', retryAfter: 6 } }, 6],
    [{ retryAfterSeconds: -1, data: { retry_after: 8 } }, 8],
    [{ retryAfterSeconds: 1_000_000 }, 300],
    [{ retryAfterSeconds: true }, undefined],
    [{ data: null }, undefined],
  ])('%j: %s', (what, seconds) => {
    expect(waits(what)).toBe(seconds);
  });

  it('is unknown if the error names none', () => {
    expect(judgeThrown(new Error('x'))).not.toHaveProperty('retryAfterSeconds');
    expect(judgeThrown(null)).not.toHaveProperty('retryAfterSeconds');
  });
});
