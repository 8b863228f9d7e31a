import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ControlHandlers, type ControlServer, connectControl, serveControl } from '../../src/control/channel.ts';
import { type ControlClient, OutdatedGatewayError } from '../../src/control/client.ts';
import type { GatewaySnapshot } from '../../src/control/contract.ts';
import { connectLocal } from '../../src/link/localSocket.ts';
import { snapshot } from '../extension/fixtures.ts';
import { until } from '../support/hostProcess.ts';
import { temporaryFolder } from '../support/workspace.ts';

/** Both ends over a real socket. */
async function channel(handlers: Partial<ControlHandlers> = {}) {
  const path = join(temporaryFolder('wg-control-'), 's');
  let far: Socket | undefined;
  let server: ControlServer | undefined;
  const listener = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => undefined);
    far = socket;
    const all = { status: () => snapshot(), ...handlers } as ControlHandlers;
    server = serveControl(socket, all);
  });
  await new Promise<void>((done) => listener.listen(path, done));
  const socket = await connectLocal(path, 1_000);
  socket.on('error', () => undefined);
  const client = connectControl(socket);
  onTestFinished(() => {
    client.dispose();
    listener.close();
  });
  // The other end exists once it has answered.
  await client.request('status', {});
  return { client, server: server as ControlServer, socket, far: far as Socket };
}

const closed = (end: ControlClient | ControlServer): Promise<void> => new Promise((done) => end.onClose(done));

describe('the control channel', () => {
  it('carries requests with their parameters, and late answers', async () => {
    const { client } = await channel({
      children: async ({ path }) => {
        await new Promise((done) => setTimeout(done, path === '/slow' ? 50 : 0));
        return { revision: path.length, nodes: [] };
      },
    });
    const order: string[] = [];
    const ask = (path: string) =>
      client.request('children', { path }).then(({ revision }) => order.push(`${path} ${revision}`));
    await Promise.all([ask('/slow'), ask('/')]);
    expect(order).toEqual(['/ 1', '/slow 5']);
  });

  it('delivers an answer that waits behind snapshots when the socket ends', async () => {
    const end = async (): Promise<void> => {
      await server.notify(snapshot());
      far.once('close', () => socket.resume()).destroySoon();
    };
    const { client, server, far, socket } = await channel({
      stop: () => {
        // Reads the answer and the end of the socket in one turn, as a busy process does.
        socket.pause();
        for (let i = 0; i < 10; i++) void server.notify(snapshot());
        setImmediate(() => void end());
        return { stopped: true };
      },
    });
    expect(await client.request('stop', {})).toEqual({ stopped: true });
  });

  it('passes on the error of a handler and keeps working', async () => {
    const { client } = await channel({
      refresh: () => {
        throw new Error('the disk is gone');
      },
    });
    await expect(client.request('refresh', {})).rejects.toThrow('the disk is gone');
    await expect(client.request('stop', {})).rejects.toThrow();
    expect(await client.request('status', {})).toMatchObject({ health: 'ready' });
  });

  it('delivers snapshots to every listener', async () => {
    const { client, server } = await channel();
    const seen: GatewaySnapshot[] = [];
    const both = new Promise<void>((done) => {
      client.onSnapshot((news) => void seen.push(news));
      client.onSnapshot(() => seen.length === 2 && done());
    });
    await server.notify(snapshot({ health: 'starting' }));
    await server.notify(snapshot({ health: 'ready' }));
    await both;
    expect(seen.map((news) => news.health)).toEqual(['starting', 'ready']);
  });

  it('rejects open requests and reports the close when the other end disappears', async () => {
    const { client, far } = await channel({ refresh: () => new Promise(() => undefined) });
    const waiting = client.request('refresh', {});
    const gone = closed(client);
    far.destroy();
    await expect(waiting).rejects.toThrow();
    await gone;
    await expect(client.request('status', {})).rejects.toThrow();
  });

  it('reports to the worker that a watcher has disconnected', async () => {
    const { client, server } = await channel();
    const gone = closed(server);
    client.dispose();
    await gone;
    // A snapshot without a recipient settles, too.
    await server.notify(snapshot());
    const late = closed(server);
    await late;
  });

  it('does not hold back the sender for a watcher that does not read', async () => {
    const { client, server, socket } = await channel();
    socket.pause();
    const big = snapshot({ workspace: 'x'.repeat(4_000_000) });
    let left = false;
    const sent = server.notify(big).then(() => {
      left = true;
    });
    await new Promise((done) => setTimeout(done, 100));
    // The worker knows from this that the watcher is behind.
    expect(left).toBe(false);
    socket.resume();
    await sent;
    client.dispose();
  });

  it('closes on input that is not of its protocol', async () => {
    const { server, socket } = await channel();
    const gone = closed(server);
    socket.write('GET / HTTP/1.1\r\n\r\n');
    await gone;
  });

  it('asks the other end for secrets any number of times without leaking listeners', async () => {
    const { client, server, far } = await channel();
    expect(await server.secret({ op: 'get', key: 'k' })).toEqual({ kept: false });
    client.onSecret(async ({ key }) => ({ kept: true, value: key }));
    expect(await server.secret({ op: 'get', key: 'k' })).toEqual({ kept: true, value: 'k' });
    const before = far.listenerCount('close');
    for (let i = 0; i < 30; i++) await server.secret({ op: 'get', key: String(i) });
    expect(far.listenerCount('close')).toBe(before);
  });

  it('cancels a request at the other end, and also when its end leaves', async () => {
    const cancelled: string[] = [];
    const { client } = await channel({
      children: ({ path }, signal) =>
        new Promise(() => signal.addEventListener('abort', () => cancelled.push(path), { once: true })),
    });
    const cancel = new AbortController();
    const asked = client.request('children', { path: '/cancelled' }, cancel.signal);
    const open = client.request('children', { path: '/left' });
    open.catch(() => undefined);
    await client.request('status', {});
    cancel.abort();
    await expect(asked).rejects.toThrow();
    await until('the cancellation', () => cancelled.length === 1);
    client.dispose();
    await until('the other', () => cancelled.length === 2);
    expect(cancelled).toEqual(['/cancelled', '/left']);
  });

  it('turns a request that an older worker does not know into one sentence for the user', async () => {
    const { client } = await channel();
    const failed = client.request('limits', {});
    await expect(failed).rejects.toThrow(OutdatedGatewayError);
    await expect(failed).rejects.toThrow('Reload the gateway to use this.');
  });

  it('delivers calls and ends of refreshes to every listener', async () => {
    const { client, server } = await channel();
    const heard: unknown[] = [];
    client.onCalls((calls) => void heard.push(calls));
    client.onRefreshed((news) => void heard.push(news));
    server.calls([]);
    server.refreshed({ server: 'one', added: 1, removed: 0, changed: 0 });
    await until('both', () => heard.length === 2);
    expect(heard).toEqual([[], { server: 'one', added: 1, removed: 0, changed: 0 }]);
  });

  it('withdraws a question, and does not wait for the answer of the other end', async () => {
    const { client, server } = await channel();
    const withdrawn: string[] = [];
    client.onApproval((question, gone) => {
      return new Promise(() => gone.addEventListener('abort', () => withdrawn.push(question.id)));
    });
    const gone = new AbortController();
    const question = { id: '7', client: 'c', toolId: 'i', server: 's', reason: 'r', arguments: {}, lines: ['Allow?'] };
    const verdict = server.approve(question, gone.signal);
    await client.request('status', {});
    gone.abort();
    expect(await verdict).toBe('unavailable');
    await until('the withdrawal', () => withdrawn.length === 1);
    expect(withdrawn).toEqual(['7']);
  });

  it('gets no answer from an end that disappears during a question', async () => {
    const { client, server } = await channel();
    const asked = new Promise<void>((done) => {
      client.onSecret(() => {
        done();
        return new Promise(() => undefined);
      });
    });
    const answer = server.secret({ op: 'get', key: 'k' });
    await asked;
    client.dispose();
    expect(await answer).toEqual({ kept: false });
    expect(await server.secret({ op: 'get', key: 'k' })).toEqual({ kept: false });
    expect(
      await server.approve({
        id: '1',
        client: 'c',
        toolId: 'i',
        server: 's',
        reason: 'r',
        arguments: {},
        lines: ['Allow it?'],
      }),
    ).toBe('unavailable');
  });
});
