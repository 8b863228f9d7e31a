import { describe, expect, it } from 'vitest';
import { UpstreamRequestError } from '../../../src/mcp/wire/upstreamClient.ts';
import { requestError } from '../../../src/modes/passthrough/serverError.ts';
import { NotDispatchedError } from '../../../src/upstream/connection/notDispatched.ts';

const SECRET = 'ghp_0123456789abcdefghijklmnopqrstuvwxyzAB';

const required = () => ({ elicitations: [] });
const terms = { isMasked: true, required };

describe('a failed request in passthrough mode', () => {
  const answeredWith = (code: number, isMasked: boolean) => {
    const data = { why: [SECRET] };
    const answered = new UpstreamRequestError('error', `no such ${SECRET}`, code, undefined, data);
    const { message, data: shown } = requestError('docs', 'resources/read', answered, { isMasked, required });
    return { message, data: shown };
  };

  it("is answered with the server's own error, with its secrets masked", () => {
    const masked = { message: 'no such [REDACTED-SECRET]', data: { why: ['[REDACTED-SECRET]'] } };
    expect(answeredWith(-32002, true)).toEqual(masked);
    expect(answeredWith(-32002, false)).toEqual({ message: `no such ${SECRET}`, data: { why: [SECRET] } });
    expect(answeredWith(-32042, false)).toEqual({ message: masked.message, data: { elicitations: [] } });
  });

  it('is answered with the text of the fault if the server sent no error', () => {
    const lost = new UpstreamRequestError('closed', 'connection closed');
    expect(requestError('docs', 'resources/read', lost, terms)).toMatchObject({
      code: -32603,
      message: 'docs lost its connection. It is safe to repeat.',
      data: { error: 'UPSTREAM_UNAVAILABLE', retryable: true, details: { fault: 'transport/connection_lost' } },
    });
    expect(requestError('docs', 'x/y', lost, terms)).toMatchObject({
      message: 'docs lost its connection. It may have taken effect: check before you repeat it.',
      data: { retryable: false, details: { outcome: 'unknown' } },
    });
    const status = new UpstreamRequestError('error', 'HTTP 503', 503, 7);
    expect(requestError('docs', 'prompts/get', status, terms).message).toBe(
      'docs is unavailable: "HTTP 503". Call again after 7 s.',
    );
    const { message } = requestError('docs', 'prompts/get', new NotDispatchedError(`it said ${SECRET}`), {
      ...terms,
      isMasked: false,
    });
    expect(message).toMatch(/^docs is not running: "it said .*"\. Nothing was sent\. /);
    expect(message).not.toContain(SECRET);
  });
});
