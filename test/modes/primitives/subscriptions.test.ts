import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ClientPeer } from '../../../src/mcp/session/sessionMode.ts';
import { MAX_SUBSCRIPTIONS, Subscriptions } from '../../../src/modes/primitives/subscriptions.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Creates a server that withholds its answers until the test releases them, and counts its holders. */
function world() {
  const asked: string[] = [];
  const log: string[] = [];
  let holds = 0;
  let answer: (uri: string) => Promise<Record<string, unknown>> = async () => ({});
  const server = {
    state: 'ready',
    capabilities: { resources: { subscribe: true } },
    request: (method: string, params: Record<string, unknown>) => {
      asked.push(`${method.replace('resources/', '')} ${params.uri}`);
      return answer(String(params.uri));
    },
    hold: () => {
      holds += 1;
      return () => {
        holds -= 1;
      };
    },
  };
  const subscriptions = new Subscriptions(
    (name) => (name === 'one' ? server : undefined),
    (line) => void log.push(line),
  );
  return {
    subscriptions,
    asked,
    log,
    server,
    holds: () => holds,
    answerWith: (next: typeof answer) => {
      answer = next;
    },
  };
}

function session() {
  const heard: unknown[] = [];
  const peer: ClientPeer = {
    client: { name: 'test', version: '1', protocolVersion: '2025-11-25' },
    session: {},
    capabilities: {},
    notify: (_method, params) => void heard.push(params?.uri),
    request: async () => ({}),
  };
  return { peer, heard };
}

const at = (uri: string, prefix = '') => ({ server: 'one', uri, prefix });

describe('a subscription', () => {
  it('is shared by all sessions, also by concurrent ones, and ends with the last', async () => {
    const { subscriptions, asked, holds } = world();
    const [a, b] = [session(), session()];
    await Promise.all([subscriptions.subscribe(a.peer, at('x://1')), subscriptions.subscribe(b.peer, at('x://1'))]);
    await subscriptions.subscribe(a.peer, at('x://1'));
    expect([asked, holds()]).toEqual([['subscribe x://1'], 1]);
    await subscriptions.unsubscribe(a.peer.session, at('x://1'));
    await subscriptions.unsubscribe(a.peer.session, at('x://1'));
    expect(asked).toHaveLength(1);
    subscriptions.end(b.peer.session);
    expect([asked, holds()]).toEqual([['subscribe x://1', 'unsubscribe x://1'], 0]);
  });

  it('leaves nothing behind for any waiting session if the server refuses it', async () => {
    const { subscriptions, holds, answerWith, asked } = world();
    const [a, b] = [session(), session()];
    answerWith(() => Promise.reject(new Error('no')));
    const both = [subscriptions.subscribe(a.peer, at('x://1')), subscriptions.subscribe(b.peer, at('x://1'))];
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(holds()).toBe(0);
    subscriptions.updated('one', { uri: 'x://1' });
    await vi.runAllTimersAsync();
    expect(a.heard).toEqual([]);
    answerWith(async () => ({}));
    await subscriptions.subscribe(a.peer, at('x://1'));
    expect(asked).toEqual(['subscribe x://1', 'subscribe x://1']);
  });

  it("sends updates under the session's address, at a limited rate", async () => {
    const { subscriptions } = world();
    const [plain, behind, other] = [session(), session(), session()];
    await subscriptions.subscribe(plain.peer, at('x://1'));
    await subscriptions.subscribe(behind.peer, at('x://1', 'waygate://server/one/'));
    await subscriptions.subscribe(other.peer, at('x://2'));
    for (let i = 0; i < 500; i++) subscriptions.updated('one', { uri: 'x://1' });
    subscriptions.updated('two', { uri: 'x://2' });
    subscriptions.updated('one', {});
    await vi.runAllTimersAsync();
    expect([plain.heard, behind.heard, other.heard]).toEqual([['x://1'], ['waygate://server/one/x://1'], []]);
  });

  it('covers resources below it, with one update if both are subscribed', async () => {
    const { subscriptions } = world();
    const [above, both] = [session(), session()];
    await subscriptions.subscribe(above.peer, at('file:///a'));
    await subscriptions.subscribe(both.peer, at('file:///a'));
    await subscriptions.subscribe(both.peer, at('file:///a/b'));
    subscriptions.updated('one', { uri: 'file:///a/b' });
    subscriptions.updated('one', { uri: 'file:///ab' });
    await vi.runAllTimersAsync();
    expect([above.heard, both.heard]).toEqual([['file:///a/b'], ['file:///a/b']]);
  });

  it('is renewed after a restart of its server, and its sessions get an update then', async () => {
    const { subscriptions, asked, holds, log, answerWith } = world();
    const a = session();
    await subscriptions.subscribe(a.peer, at('x://1'));
    subscriptions.serverReady('other');
    subscriptions.serverReady('one');
    await vi.runAllTimersAsync();
    expect([asked.length, a.heard, holds()]).toEqual([2, ['x://1'], 1]);
    answerWith(() => Promise.reject(new Error('gone')));
    subscriptions.serverReady('one');
    await vi.runAllTimersAsync();
    expect(a.heard).toEqual(['x://1']);
    expect(log).toEqual(['one: a subscription could not be renewed: gone']);
  });

  it('is sent once if it starts its server', async () => {
    const { subscriptions, asked, answerWith } = world();
    answerWith(async () => {
      subscriptions.serverReady('one');
      return {};
    });
    await subscriptions.subscribe(session().peer, at('x://1'));
    expect(asked).toEqual(['subscribe x://1']);
  });

  it('does not start a server in order to end', async () => {
    const { subscriptions, asked, server } = world();
    const a = session();
    await subscriptions.subscribe(a.peer, at('x://1'));
    server.state = 'not_started';
    subscriptions.end(a.peer.session);
    expect(asked).toEqual(['subscribe x://1']);
  });

  it('is refused for an unknown server, without the capability, and beyond the limit', async () => {
    const { subscriptions, server } = world();
    const a = session();
    await expect(subscriptions.subscribe(a.peer, { ...at('x'), server: 'gone' })).rejects.toMatchObject({
      code: -32601,
    });
    for (let i = 0; i < MAX_SUBSCRIPTIONS; i++) await subscriptions.subscribe(a.peer, at(`x://${i}`));
    await expect(subscriptions.subscribe(a.peer, at('x://more'))).rejects.toMatchObject({ code: -32602 });
    await subscriptions.subscribe(session().peer, at('x://more'));
    server.capabilities = { resources: { subscribe: false } };
    await expect(subscriptions.subscribe(session().peer, at('x://1'))).rejects.toMatchObject({ code: -32601 });
  });
});
