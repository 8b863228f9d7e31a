import { describe, expect, it } from 'vitest';
import { type UpstreamFailure, UpstreamRequestError } from '../../src/mcp/wire/upstreamClient.ts';
import { describeRequestError } from '../../src/upstream/transports/upstreamLink.ts';

const scrub = (text: string): string => text.replaceAll('hunter2', '***');
const said = (failure: UpstreamFailure, words = 'bad key hunter2'): string =>
  describeRequestError(new UpstreamRequestError(failure, words), 1_500, scrub);

describe('the description of a failed request', () => {
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
  ])('matches its failure: %s', (failure, words) => {
    expect(said(failure)).toBe(words);
  });

  it('is one short line with one full stop', () => {
    expect(said('error', 'no.\nsuch\tthing.')).toBe('It answered with an error: no. such thing.');
    expect(said('protocol', 'x'.repeat(1_000)).length).toBeLessThan(250);
  });

  it('is the message of any other error', () => {
    expect(describeRequestError(new Error('It ended.'), 1, scrub)).toBe('It ended.');
    expect(describeRequestError('odd', 1, scrub)).toBe('odd');
  });

  it('contains no secret, and is masked before it is cut', () => {
    const secret = 'long-secret-'.repeat(30);
    const described = (thrown: unknown) => describeRequestError(thrown, 1_000, (text) => text.replaceAll(secret, '*'));
    expect(described(new UpstreamRequestError('error', `no ${secret} here`))).toBe(
      'It answered with an error: no * here.',
    );
    expect(described(new Error(`speaks version ${secret}`))).toBe('speaks version *');
    expect(described(`thrown ${secret}`)).toBe('thrown *');
  });
});
