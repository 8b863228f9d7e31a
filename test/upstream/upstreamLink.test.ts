import { expect, it } from 'vitest';
import { UpstreamRequestError } from '../../src/protocol/upstreamClient.ts';
import { describeRequestError } from '../../src/upstream/upstreamLink.ts';

it('what a server says of itself is told without its secrets, whatever was thrown, and masked before it is cut', () => {
  const secret = 'long-secret-'.repeat(30);
  const told = (thrown: unknown) => describeRequestError(thrown, 1_000, (text) => text.replaceAll(secret, '*'));
  expect(told(new UpstreamRequestError('error', `no ${secret} here`))).toBe('It answered with an error: no * here.');
  expect(told(new Error(`speaks version ${secret}`))).toBe('speaks version *');
  expect(told(`thrown ${secret}`)).toBe('thrown *');
});
