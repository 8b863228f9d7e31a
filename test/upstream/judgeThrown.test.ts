import { describe, expect, it } from 'vitest';
import { type UpstreamFailure, UpstreamRequestError } from '../../src/mcp/wire/upstreamClient.ts';
import { CallFailedError, failedCall } from '../../src/upstream/connection/callFailed.ts';
import { judgeThrown, thrownWords } from '../../src/upstream/connection/judgeThrown.ts';
import { NotDispatchedError } from '../../src/upstream/connection/notDispatched.ts';
import { LinkFailure } from '../../src/upstream/transports/upstreamLink.ts';

const failure = (how: UpstreamFailure, code?: number, words = 'x') => new UpstreamRequestError(how, words, code);
const asIs = (text: string): string => text;

describe('the verdict on a failed request', () => {
  it.each([
    ['timeout', 'call_timeout', 'outcome_unknown'],
    ['closed', 'connection_lost', 'outcome_unknown'],
    ['gone', 'connection_lost', 'not_dispatched'],
    ['protocol', 'malformed_response', 'outcome_unknown'],
    ['unsent', 'connection_refused', 'not_dispatched'],
    ['busy', 'queue_overflow', 'not_dispatched'],
    ['unauthorized', 'unauthorized', 'completed'],
    ['error', 'upstream_error', 'completed'],
  ] as const)('%s: %s, %s', (how, code, knowledge) => {
    expect(judgeThrown(failure(how))).toEqual({ code, knowledge });
  });

  it.each([
    [403, 'forbidden', 'completed'],
    [429, 'rate_limited', 'completed'],
    [503, 'upstream_unavailable', 'completed'],
    // A proxy does not know the outcome either.
    [408, 'upstream_timeout', 'outcome_unknown'],
    [502, 'upstream_unavailable', 'outcome_unknown'],
    [504, 'upstream_timeout', 'outcome_unknown'],
    [-32602, 'upstream_error', 'completed'],
  ] as const)('status or code %d: %s, %s', (status, code, knowledge) => {
    expect(judgeThrown(failure('error', status))).toEqual({ code, knowledge });
  });

  it.each([
    // A framework answers so after the effect too.
    [500, 'upstream_error', 'outcome_unknown'],
    [520, 'upstream_error', 'outcome_unknown'],
    [404, 'upstream_error', 'outcome_unknown'],
    [503, 'upstream_unavailable', 'completed'],
    [400, 'upstream_error', 'completed'],
    [415, 'upstream_error', 'completed'],
  ] as const)('HTTP status %d in place of an answer: %s, %s', (status, code, knowledge) => {
    expect(judgeThrown(Object.assign(failure('error', status), { status }))).toEqual({ code, knowledge });
    // As a code of JSON-RPC it is an answer of the server itself.
    if (status === 500) expect(judgeThrown(failure('error', status)).knowledge).toBe('completed');
  });

  it.each([
    ['ECONNREFUSED', 'connection_refused', 'not_dispatched'],
    ['ENOTFOUND', 'connection_refused', 'not_dispatched'],
    ['UND_ERR_CONNECT_TIMEOUT', 'handshake_timeout', 'not_dispatched'],
    ['ECONNRESET', 'connection_lost', 'outcome_unknown'],
    ['ETIMEDOUT', 'call_timeout', 'outcome_unknown'],
  ] as const)('system code %s: %s, %s', (system, code, knowledge) => {
    const cause = Object.assign(new Error('x'), { code: system });
    expect(judgeThrown(new Error('fetch failed', { cause }))).toEqual({ code, knowledge });
  });

  it('distinguishes an unreadable answer from an oversized one', () => {
    const garbled = (frame: 'bad_result' | 'frame_too_large') => Object.assign(failure('protocol'), { frame });
    expect(judgeThrown(garbled('bad_result'))).toEqual({ code: 'bad_result', knowledge: 'outcome_unknown' });
    expect(judgeThrown(garbled('frame_too_large'))).toEqual({ code: 'frame_too_large', knowledge: 'completed' });
  });

  it('treats a timeout reported by the server as an unknown outcome', () => {
    expect(judgeThrown(failure('error', -32000, 'upstream timed out'))).toEqual({
      code: 'upstream_timeout',
      knowledge: 'outcome_unknown',
    });
  });
});

describe('the fault of a failure', () => {
  it('is the existing one if the error carries one', () => {
    const first = failedCall(failure('closed'), asIs, 7);
    expect(first.fault).toMatchObject({ generation: 7, code: 'connection_lost', detail: 'x' });
    const error = new CallFailedError(failure('closed'), { ...first, retryAfterSeconds: 2 });
    expect(failedCall(error, asIs, 9)).toMatchObject({ fault: first.fault, retryAfterSeconds: 2 });
    const unsent = new NotDispatchedError('no', first.fault, 4);
    expect(failedCall(unsent, asIs)).toEqual({
      fault: first.fault,
      knowledge: 'not_dispatched',
      retryAfterSeconds: 4,
    });
  });

  it('names the cause of a closed link', () => {
    const { fault, ...rest } = failedCall(new LinkFailure('no route', 'spawn_enoent', 3), asIs);
    expect(fault).toMatchObject({ code: 'spawn_enoent', detail: 'no route' });
    expect(rest).toEqual({ knowledge: 'not_dispatched', retryAfterSeconds: 3 });
  });

  it('contains no secret, whatever was thrown', () => {
    const scrub = (text: string): string => text.replaceAll('hunter2', '***');
    expect(failedCall('hunter2 leaked', scrub).fault.detail).toBe('*** leaked');
    expect(failedCall({ toString: () => 'hunter2' }, scrub).fault.detail).toBe('the thrown value is not an error');
    expect(thrownWords(undefined)).toBe('undefined');
  });

  it('of a call keeps the answer of the server', () => {
    const answered = new UpstreamRequestError('error', 'no', -32001, undefined, { a: 1 });
    const error = new CallFailedError(answered, failedCall(answered, asIs));
    expect(error).toMatchObject({ failure: 'error', code: -32001, data: { a: 1 }, message: 'no' });
    expect(new CallFailedError(new Error('odd'), failedCall(new Error('odd'), asIs))).toMatchObject({
      failure: 'closed',
      code: undefined,
    });
  });
});

describe('a call that was not dispatched', () => {
  it.each([
    ['unauthorized', 'unauthorized'],
    ['secret_missing', 'unauthorized'],
    ['needs_approval', 'unapproved'],
    ['exited', undefined],
  ] as const)('because of %s waits for the user: %s', (code, waits) => {
    const { fault } = failedCall(new LinkFailure('x', code), asIs);
    expect(new NotDispatchedError('x', fault).failure).toBe(waits);
  });

  it('without a fault waits for nothing', () => {
    const error = new NotDispatchedError('it is starting');
    expect(error.failure).toBeUndefined();
    expect(failedCall(error, asIs)).toMatchObject({ fault: { code: 'not_running' }, knowledge: 'not_dispatched' });
  });
});
