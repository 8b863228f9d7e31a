import { describe, expect, it } from 'vitest';
import type { StdioServerConfig } from '../../src/config/gatewayConfig.ts';
import { ChildJournal } from '../../src/upstream/process/childJournal.ts';
import { StartQueue } from '../../src/upstream/start/startQueue.ts';
import { StdioLink } from '../../src/upstream/transports/stdioLink.ts';
import { connectStdio } from '../support/connection.ts';
import { servers, temporaryFolder } from '../support/workspace.ts';

const NEVER = new AbortController().signal;
const LONG_MS = 3_600_000;
const turnOver = () => new Promise((resolve) => setImmediate(resolve));

/** Queue with a record of the starts that have begun. */
function queueOf(atOnce: number, placeMs = LONG_MS) {
  const queue = new StartQueue({ atOnce, placeMs });
  const begun: string[] = [];
  const enter = (name: string, isNeeded = false, signal: AbortSignal = NEVER) => {
    const turn = queue.enter(isNeeded, signal);
    void turn.ready.then(() => begun.push(name));
    return turn;
  };
  return { enter, begun };
}

describe('the queue of starts', () => {
  it('runs so many at a time, in order, and the next one when one leaves', async () => {
    const { enter, begun } = queueOf(2);
    const [a] = ['a', 'b', 'c', 'd'].map((name) => enter(name));
    await turnOver();
    expect(begun).toEqual(['a', 'b']);
    a?.leave();
    a?.leave();
    await turnOver();
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it('prefers a server that a call needs, whether it waits already or comes later', async () => {
    const { enter, begun } = queueOf(1);
    const a = enter('a');
    enter('b');
    const c = enter('c');
    c.hurry();
    const d = enter('d', true);
    a.leave();
    await turnOver();
    d.leave();
    await turnOver();
    c.leave();
    await turnOver();
    expect(begun).toEqual(['a', 'd', 'c', 'b']);
  });

  it('forgets an aborted start, and takes the place of one that takes long', async () => {
    const { enter, begun } = queueOf(1);
    const a = enter('a');
    const abort = new AbortController();
    const b = enter('b', false, abort.signal);
    const c = enter('c');
    abort.abort();
    await b.ready;
    expect(begun).not.toContain('c');
    a.leave();
    await c.ready;
    const { enter: enterShort } = queueOf(1, 1);
    enterShort('hangs');
    await enterShort('next').ready;
  });
});

describe('a server that waits for its first start', () => {
  it.each(['call', 'start'] as const)('starts before the others at a %s', async (how) => {
    const queue = new StartQueue({ atOnce: 1, placeMs: LONG_MS });
    const journal = new ChildJournal(temporaryFolder('wg-queue-'));
    const begun: string[] = [];
    const connect = (name: string) => {
      const { connection } = connectStdio({ ...servers.fixture(), name }, journal, {
        startQueue: queue,
        openLink: async (config, events) => {
          begun.push(name);
          return new StdioLink(config as StdioServerConfig, journal, events);
        },
      });
      connection.begin();
      return connection;
    };
    const first = queue.enter(false, NEVER);
    const [other, needed] = [connect('other'), connect('needed')];
    // Both are in the queue by then.
    await turnOver();
    const work = how === 'call' ? needed.call('echo', { text: 'hi' }, { timeoutMs: LONG_MS }) : needed.start();
    await turnOver();
    first.leave();
    await Promise.all([work, other.start()]);
    expect(begun).toEqual(['needed', 'other']);
  });
});
