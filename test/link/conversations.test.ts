import { describe, expect, it } from 'vitest';
import { Conversations } from '../../src/link/movingSession.ts';

function conversations() {
  const begun = new Map<string, object>();
  const forgotten: string[] = [];
  const all = new Conversations({
    begins: (conversation, key) => void begun.set(key, conversation),
    isForgotten: (key) => void forgotten.push(key),
  });
  const chat = (id: unknown) => all.of({ 'vscode.conversationId': id });
  return { all, begun, forgotten, chat };
}

describe('the conversations of a session', () => {
  it('are its chats, and the session itself for a request without a chat', () => {
    const { all, begun, chat } = conversations();
    expect(chat('a')).toBe(chat('a'));
    expect(chat('a')).not.toBe(chat('b'));
    for (const meta of [undefined, {}, { 'vscode.conversationId': 7 }]) expect(all.of(meta)).toBe(begun.get('session'));
    // A chat with the id "session" is not the session.
    expect(chat('session')).not.toBe(all.of(undefined));
    expect([...begun.keys()]).toEqual(['session', 'chat:a', 'chat:b', 'chat:session']);
  });

  it('are found by their keys in another process', () => {
    const { all, chat } = conversations();
    const moved = all.keyed('chat:a');
    expect(moved).toBeDefined();
    expect(chat('a')).toBe(moved);
    expect(all.keyed('session')).toBe(all.of(undefined));
    for (const odd of ['', 'chat', 'list:tools/list', '__proto__']) expect(all.keyed(odd)).toBeUndefined();
  });

  it('are limited to a hundred chats: the least recently used one is forgotten', () => {
    const { all, begun, forgotten, chat } = conversations();
    for (let i = 0; i < 100; i++) chat(`c${i}`);
    const [first, session] = [chat('c0'), all.of(undefined)];
    chat('one more');
    all.keyed('chat:and one more');
    expect(forgotten).toEqual(['chat:c1', 'chat:c2']);
    expect([chat('c0'), all.of(undefined)]).toEqual([first, session]);
    expect(chat('c0')).toBe(first);
    const before = begun.get('chat:c1');
    expect(chat('c1')).not.toBe(before);
  });
});
