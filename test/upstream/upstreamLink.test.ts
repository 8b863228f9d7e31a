import { describe, expect, it } from 'vitest';
import { type UpstreamFailure, UpstreamRequestError } from '../../src/mcp/wire/upstreamClient.ts';
import { describeRequestError } from '../../src/upstream/transports/upstreamLink.ts';

const scrub = (text: string): string => text.replaceAll('hunter2', '***');
const said = (failure: UpstreamFailure, words = 'bad key hunter2'): string =>
  describeRequestError(new UpstreamRequestError(failure, words), 1_500, scrub);

describe('what a failed request says', () => {
  it.each<[UpstreamFailure, string]>([
    ['timeout', 'It did not answer within 1.5 s.'],
    ['closed', 'Its connection ended before it answered.'],
    ['gone', 'Its connection ended before it answered.'],
    ['error', 'It answered with an error: bad key ***.'],
    ['protocol', 'Its answer cannot be used: bad key ***.'],
    ['unauthorized', 'It refused access: bad key ***.'],
    ['unsent', 'The request failed: bad key ***.'],
    ['busy', 'The request failed: bad key ***.'],
    ['aborted', 'The request failed: bad key ***.'],
  ])('is true of how it failed: %s', (failure, words) => {
    expect(said(failure)).toBe(words);
  });

  it('is one short line that ends once', () => {
    expect(said('error', 'no.\nsuch\tthing.')).toBe('It answered with an error: no. such thing.');
    expect(said('protocol', 'x'.repeat(1_000)).length).toBeLessThan(250);
  });

  it('is the words of what was thrown beside it', () => {
    expect(describeRequestError(new Error('It ended.'), 1, scrub)).toBe('It ended.');
    expect(describeRequestError('odd', 1, scrub)).toBe('odd');
  });

  it('is told without secrets, whatever was thrown, and masked before it is cut', () => {
    const secret = 'long-secret-'.repeat(30);
    const told = (thrown: unknown) => describeRequestError(thrown, 1_000, (text) => text.replaceAll(secret, '*'));
    expect(told(new UpstreamRequestError('error', `no ${secret} here`))).toBe('It answered with an error: no * here.');
    expect(told(new Error(`speaks version ${secret}`))).toBe('speaks version *');
    expect(told(`thrown ${secret}`)).toBe('thrown *');
  });
});
