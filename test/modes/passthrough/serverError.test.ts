import { describe, expect, it } from 'vitest';
import { UpstreamRequestError } from '../../../src/mcp/wire/upstreamClient.ts';
import { requestError } from '../../../src/modes/passthrough/serverError.ts';
import { NotDispatchedError } from '../../../src/upstream/connection/notDispatched.ts';

describe('a failed request in passthrough mode', () => {
  it("is answered with the server's own error, unchanged", () => {
    const data = { why: ['this'] };
    const answered = new UpstreamRequestError('error', 'no such thing', -32002, undefined, data);
    expect(requestError('docs', 'resources/read', answered)).toMatchObject({
      code: -32002,
      message: 'no such thing',
      data,
    });
  });

  it('is answered with the text of the fault if the server sent no error', () => {
    const lost = new UpstreamRequestError('closed', 'connection closed');
    expect(requestError('docs', 'resources/read', lost)).toMatchObject({
      code: -32603,
      message: 'docs lost its connection. It is safe to repeat.',
      data: { error: 'UPSTREAM_UNAVAILABLE', retryable: true, details: { fault: 'transport/connection_lost' } },
    });
    expect(requestError('docs', 'x/y', lost)).toMatchObject({
      message: 'docs lost its connection. It may have taken effect: check before you repeat it.',
      data: { retryable: false, details: { outcome: 'unknown' } },
    });
    const status = new UpstreamRequestError('error', 'HTTP 503', 503, 7);
    expect(requestError('docs', 'prompts/get', status).message).toBe(
      'docs is unavailable: "HTTP 503". Call again after 7 s.',
    );
    const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyzAB';
    const { message } = requestError('docs', 'prompts/get', new NotDispatchedError(`it said ${secret}`));
    expect(message).toMatch(/^docs is not running: "it said .*"\. Nothing was sent\. /);
    expect(message).not.toContain(secret);
  });
});
