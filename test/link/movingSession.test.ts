import { describe, expect, it } from 'vitest';
import { deferred } from '../../src/lib/deferred.ts';
import { type ListKind, MovingSession } from '../../src/link/movingSession.ts';

/** Makes a session with a scripted memory, and records its messages to the host and the client. */
function session(shown: Partial<Record<ListKind, string>> = {}, settled: Promise<void> = Promise.resolve()) {
  const memories = new Map<object, unknown>();
  const watchers = new Map<object, () => void>();
  const given: [object, unknown, number][] = [];
  const kept: [string, unknown][] = [];
  const announced: ListKind[] = [];
  const memory = {
    take: (one: object) => memories.get(one),
    watch: (one: object, onChange: () => void) => void watchers.set(one, onChange),
    give: (one: object, value: unknown, age: number) => void given.push([one, value, age]),
    list: (kind: ListKind) => shown[kind],
    settled: () => settled,
  };
  const moving = new MovingSession(memory, {
    keep: (key, value) => void kept.push([key, value]),
    listChanged: (kind) => void announced.push(kind),
  });
  const chat = (id?: string) => moving.conversation(id === undefined ? undefined : { 'vscode.conversationId': id });
  const remembers = (one: object, value: unknown): void => {
    memories.set(one, value);
    watchers.get(one)?.();
  };
  return { moving, shown, given, kept, announced, chat, remembers };
}

describe('the state of a session for the next worker', () => {
  it('is sent to the host with each change', () => {
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

  it('is given to its conversations with its age', () => {
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

  it('is forgotten by the host together with the chat', () => {
    const { kept, chat } = session();
    for (let i = 0; i <= 100; i++) chat(`c${i}`);
    expect(kept).toEqual([['chat:c0', undefined]]);
  });

  it('is not sent any more after another worker has taken over', () => {
    const { moving, kept, chat, remembers } = session();
    const a = chat('a');
    moving.handOver();
    remembers(a, 1);
    expect(kept).toEqual([]);
  });

  it('is not accepted in an invalid form', async () => {
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
      const { moving, given, announced } = session({ tools: 't', resources: 'r', prompts: 'p' });
      moving.receive(kept);
      await moving.begin();
      expect(given).toEqual([]);
      expect(announced).toEqual([]);
    }
    expect({}).not.toHaveProperty('polluted');
  });

  it('has a bounded age and a bounded number of chats', () => {
    const { moving, given, kept } = session();
    for (const age of [-1, Number.NaN, Number.POSITIVE_INFINITY, '9', null, undefined, [5]]) {
      moving.receive([['session', 1, age]]);
    }
    expect(given.map(([, , age]) => age)).toEqual([0, 0, 0, 0, 0, 0, 0]);
    moving.receive(Array.from({ length: 1_000 }, (_, i) => [`chat:${i}`, i, 0]));
    expect(kept).toHaveLength(900);
  });
});

describe('the list that a client has', () => {
  it('is sent to the host together with the answer', () => {
    const { moving, kept } = session({ tools: 't1', resources: 'r1' });
    const lists = ['tools/list', 'resources/list', 'resources/templates/list', 'prompts/list'];
    for (const method of [...lists, 'tools/call', 'constructor']) moving.answered(method);
    expect(kept).toEqual([
      ['list:tools/list', 't1'],
      ['list:resources/list', 'r1'],
      ['list:resources/templates/list', 'r1'],
    ]);
  });

  it('is compared when the servers are known, and announced once per kind', async () => {
    const settled = deferred<void>();
    const { moving, shown, announced } = session({ tools: 'old', resources: 'old', prompts: 'p1' }, settled.promise);
    moving.receive([
      ['list:tools/list', 't1', 0],
      ['list:resources/list', 'r1', 0],
      ['list:resources/templates/list', 'r1', 0],
      ['list:prompts/list', 'p1', 0],
    ]);
    const begun = moving.begin();
    expect(announced).toEqual([]);
    Object.assign(shown, { tools: 't1', resources: 'r2' });
    settled.resolve();
    await begun;
    expect(announced).toEqual(['resources']);
    await moving.begin();
    expect(announced).toEqual(['resources']);
  });

  it('is announced if it has no mark', async () => {
    const { moving, announced } = session({ tools: 't', prompts: 'p' });
    moving.receive([
      ['list:tools/list', { toString: 't' }, 0],
      ['list:prompts/list', null, 0],
      ['list:resources/list', 'of a mode that had them', 0],
    ]);
    await moving.begin();
    expect(announced).toEqual(['tools', 'prompts']);
  });

  it('is not announced if the client has listed it meanwhile', async () => {
    const settled = deferred<void>();
    const { moving, announced } = session({ tools: 't2' }, settled.promise);
    moving.receive([['list:tools/list', 't1', 0]]);
    const begun = moving.begin();
    moving.answered('tools/list');
    settled.resolve();
    await begun;
    expect(announced).toEqual([]);
  });

  it('is old if its worker has been replaced: the client lists again', () => {
    const { moving, kept, announced } = session({ tools: 't1' });
    moving.handOver();
    moving.answered('tools/list');
    expect(kept).toEqual([]);
    expect(announced).toEqual(['tools']);
  });
});
