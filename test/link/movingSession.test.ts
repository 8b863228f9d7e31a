import { describe, expect, it } from 'vitest';
import { deferred } from '../../src/lib/deferred.ts';
import { type ListKind, MovingSession } from '../../src/link/movingSession.ts';

/** A session whose mode remembers what the test says, and the words to its host and its client. */
function session(shown: Partial<Record<ListKind, string>> = {}, settled: Promise<void> = Promise.resolve()) {
  const memories = new Map<object, unknown>();
  const watchers = new Map<object, () => void>();
  const given: [object, unknown, number][] = [];
  const kept: [string, unknown][] = [];
  const told: ListKind[] = [];
  const memory = {
    take: (one: object) => memories.get(one),
    watch: (one: object, onChange: () => void) => void watchers.set(one, onChange),
    give: (one: object, value: unknown, age: number) => void given.push([one, value, age]),
    list: (kind: ListKind) => shown[kind],
    settled: () => settled,
  };
  const moving = new MovingSession(memory, {
    keep: (key, value) => void kept.push([key, value]),
    listChanged: (kind) => void told.push(kind),
  });
  const chat = (id?: string) => moving.conversation(id === undefined ? undefined : { 'vscode.conversationId': id });
  const remembers = (one: object, value: unknown): void => {
    memories.set(one, value);
    watchers.get(one)?.();
  };
  return { moving, shown, given, kept, told, chat, remembers };
}

describe('what a session is for the next worker', () => {
  it('is told to the host as it comes to be: what changes, where it changes', () => {
    const { kept, chat, remembers } = session();
    const a = chat('a');
    chat('b');
    remembers(a, 1);
    remembers(chat(), 2);
    remembers(a, 3);
    expect(kept).toEqual([
      ['chat:a', 1],
      ['session', 2],
      ['chat:a', 3],
    ]);
  });

  it('is given to the conversations that it is of, with its age', () => {
    const { moving, given, kept, chat } = session();
    moving.receive([
      ['chat:a', { n: 1 }, 2.5],
      ['session', 'x', 0],
    ]);
    expect(given).toEqual([
      [chat('a'), { n: 1 }, 2.5],
      [chat(), 'x', 0],
    ]);
    expect(given[0]?.[0]).toBe(chat('a'));
    expect(kept).toEqual([]);
  });

  it('is forgotten by the host with the chat', () => {
    const { kept, chat } = session();
    for (let i = 0; i <= 100; i++) chat(`c${i}`);
    expect(kept).toEqual([['chat:c0', undefined]]);
  });

  it('is no more told once another worker has taken over', () => {
    const { moving, kept, chat, remembers } = session();
    const a = chat('a');
    moving.handOver();
    remembers(a, 1);
    expect(kept).toEqual([]);
  });

  it('is not what somebody makes up', async () => {
    const hostile: unknown[] = [
      undefined,
      null,
      'chat:a',
      { 'chat:a': 1 },
      [null, 7, 'chat:a', [], [null, 1, 1], [7, 1, 1], [{}, 1, 1]],
      [
        ['__proto__', { polluted: true }, 0],
        ['constructor', 1, 0],
        ['', 1, 0],
        ['chat', 1, 0],
      ],
      [
        ['list:', 'x', 0],
        ['list:__proto__', 'x', 0],
        ['list:tools/call', 'x', 0],
        ['list:toString', 'x', 0],
      ],
    ];
    for (const kept of hostile) {
      const { moving, given, told } = session({ tools: 't', resources: 'r', prompts: 'p' });
      moving.receive(kept);
      await moving.begin();
      expect(given).toEqual([]);
      expect(told).toEqual([]);
    }
    expect({}).not.toHaveProperty('polluted');
  });

  it('is not older than it can be, and of chats not more than there may be', () => {
    const { moving, given, kept } = session();
    for (const age of [-1, Number.NaN, Number.POSITIVE_INFINITY, '9', null, undefined, [5]]) {
      moving.receive([['session', 1, age]]);
    }
    expect(given.map(([, , age]) => age)).toEqual([0, 0, 0, 0, 0, 0, 0]);
    moving.receive(Array.from({ length: 1_000 }, (_, i) => [`chat:${i}`, i, 0]));
    expect(kept).toHaveLength(900);
  });
});

describe('what a client has listed', () => {
  it('is told to the host with the answer, by what was asked', () => {
    const { moving, kept } = session({ tools: 't1', resources: 'r1' });
    const lists = ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'];
    for (const method of [...lists, 'tools/call', 'constructor']) moving.answered(method);
    expect(kept).toEqual([
      ['list:tools/list', 't1'],
      ['list:resources/list', 'r1'],
      ['list:resources/templates/list', 'r1'],
    ]);
  });

  it('is compared with what is shown once servers are known, and told once of each kind', async () => {
    const settled = deferred<void>();
    const { moving, shown, told } = session({ tools: 'old', resources: 'old', prompts: 'p1' }, settled.promise);
    moving.receive([
      ['list:tools/list', 't1', 0],
      ['list:resources/list', 'r1', 0],
      ['list:resources/templates/list', 'r1', 0],
      ['list:prompts/list', 'p1', 0],
    ]);
    const begun = moving.begin();
    expect(told).toEqual([]);
    Object.assign(shown, { tools: 't1', resources: 'r2' });
    settled.resolve();
    await begun;
    expect(told).toEqual(['resources']);
    await moving.begin();
    expect(told).toEqual(['resources']);
  });

  it('is told of where its mark is none', async () => {
    const { moving, told } = session({ tools: 't', prompts: 'p' });
    moving.receive([
      ['list:tools/list', { toString: 't' }, 0],
      ['list:prompts/list', null, 0],
      ['list:resources/list', 'of a mode that had them', 0],
    ]);
    await moving.begin();
    expect(told).toEqual(['tools', 'prompts']);
  });

  it('is not told of where it has listed here by then', async () => {
    const settled = deferred<void>();
    const { moving, told } = session({ tools: 't2' }, settled.promise);
    moving.receive([['list:tools/list', 't1', 0]]);
    const begun = moving.begin();
    moving.answered('tools/list');
    settled.resolve();
    await begun;
    expect(told).toEqual([]);
  });

  it('of a worker that has given way meanwhile is old: it is told to list again', () => {
    const { moving, kept, told } = session({ tools: 't1' });
    moving.handOver();
    moving.answered('tools/list');
    expect(kept).toEqual([]);
    expect(told).toEqual(['tools']);
  });
});
