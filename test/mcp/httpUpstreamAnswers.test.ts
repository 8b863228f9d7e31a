import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { OpenRequests } from '../../src/mcp/session/openRequests.ts';
import { HttpUpstreamAnswers } from '../../src/mcp/wire/http/httpUpstreamAnswers.ts';
import { Oddities } from '../../src/mcp/wire/oddities.ts';

// The allowance grows with time, so stop the clock.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

async function readAll(events: readonly string[]): Promise<Oddities> {
  const oddities = new Oddities();
  const answers = new HttpUpstreamAnswers({
    bodyLimit: 1_000_000,
    oddities,
    open: new OpenRequests(),
    reply: () => undefined,
  });
  const body = events.map((data) => `data: ${data}\n\n`).join('');
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  expect(await answers.read(response, 1, () => undefined).text()).toBe(body);
  return oddities;
}

const times = (count: number, make: (i: number) => object): string[] =>
  Array.from({ length: count }, (_, i) => JSON.stringify({ jsonrpc: '2.0', ...make(i) }));

describe('a stream of a server', () => {
  it('is read more slowly after a thousand questions, because each costs a request', async () => {
    const ask = (i: number): object => ({ id: i, method: 'ping' });
    expect((await readAll(times(1_024, ask))).toJSON()).toEqual({});
    expect((await readAll(times(1_036, ask))).toJSON()).toEqual({ throttled: 12 });
  });

  it('is read at once if it contains answers', async () => {
    const answer = (i: number): object => ({ id: i, result: { x: 'x'.repeat(1_000) } });
    expect((await readAll(times(5_000, answer))).toJSON()).toEqual({});
  });
});
