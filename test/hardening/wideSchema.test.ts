import { describe, expect, it } from 'vitest';
import { FaultGateway, UNDISTURBED } from '../support/faultGateway.ts';
import { shared } from '../support/lifetime.ts';

const wide = (count: number): object => ({
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { type: 'integer' }])),
});
const tools = [
  { name: 'act', inputSchema: { type: 'object' } },
  { name: 'wide', inputSchema: wide(2_000) },
  { name: 'huge', inputSchema: wide(200_000) },
];

describe('a schema', () => {
  const opened = shared(() => FaultGateway.open({ tools }));

  it.each([
    ['above the limits', 'wide', 'its schema exceeds the limits (2000 properties > 512)'],
    ['of 200,000 properties', 'huge', 'its schema is too large (a schema of 5688922 characters'],
  ])('%s is reported by each answer to a call that could not be checked', async (_, name, why) => {
    const { host } = opened();
    const answer = await host.call('tool_execute', { tool_id: `faulty:${name}`, args: { p0: 'no integer' } });
    expect(answer.isError).toBe(false);
    expect(answer.text).toContain(`note: the arguments were not checked: ${why}`);
    expect(await opened().other()).toBe(UNDISTURBED);
  });

  it('that was left out stays small in every answer', async () => {
    const { host } = opened();
    const { text } = await host.call('tool_view', {
      handle: `schema:${await host.toolId('/faulty/huge')}`,
      selector: {},
    });
    expect(text).toMatch(
      /takes arguments that are too many to keep \(a schema of 5688922 characters, SHA-256 [0-9a-f]{64}\)/,
    );
  });
});
