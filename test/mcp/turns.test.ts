import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Lane, Turns } from '../../src/mcp/session/turns.ts';

/** Runs `count` requests in a lane that stay open. Returns the ends of the open ones. */
function ask(lane: Lane, count: number, begun: string[], name: string, isCall = true): (() => void)[] {
  const ends: (() => void)[] = [];
  for (let i = 0; i < count; i++) {
    void lane.run(() => {
      begun.push(name);
      return new Promise<void>((end) => ends.push(end));
    }, isCall);
  }
  return ends;
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await nextTurn();
}

describe('the sessions of a worker', () => {
  it('take turns: the request of one waits for no more than one of another', async () => {
    const all = new Turns();
    const begun: string[] = [];
    ask(all.lane(), 30, begun, 'busy');
    ask(all.lane(), 2, begun, 'calm');
    await turns(5);
    expect(begun.slice(0, 5)).toEqual(['busy', 'busy', 'calm', 'busy', 'calm']);
  });

  it('begin a request at once if no other has begun in this turn', () => {
    const begun: string[] = [];
    ask(new Turns().lane(), 1, begun, 'only');
    expect(begun).toEqual(['only']);
  });

  it('have 32 calls under way at most, and reads beside them', async () => {
    const all = new Turns();
    const lane = all.lane();
    const begun: string[] = [];
    const ends = ask(lane, 40, begun, 'call');
    ask(lane, 3, begun, 'read', false);
    await turns(60);
    expect([begun.filter((name) => name === 'call').length, begun.filter((name) => name === 'read').length]).toEqual([
      32, 3,
    ]);
    for (const end of ends.slice(0, 5)) end();
    await turns(10);
    expect(begun.filter((name) => name === 'call')).toHaveLength(37);
  });

  it('get an answer for each call beyond the bound of waiting ones', async () => {
    const lane = new Turns().lane();
    ask(lane, 10_001, [], 'call');
    expect(lane.run(async () => undefined, true)).toBeUndefined();
    expect(await lane.run(async () => 'read', false)).toBe('read');
  });
});
