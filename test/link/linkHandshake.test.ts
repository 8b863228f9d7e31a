import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { greet, type Hello, receiveHello, welcome } from '../../src/link/linkHandshake.ts';
import { connectLocal } from '../../src/link/localSocket.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'wg-link-')));
let server: Server | undefined;
const open: Socket[] = [];

afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
  server?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Makes a worker's end, and returns a client's socket to it. */
async function pair(serve: (socket: Socket) => void): Promise<Socket> {
  const path = join(realpathSync(mkdtempSync(join(tmpdir(), 'wg-link-'))), 's');
  server = createServer({ pauseOnConnect: true }, (socket) => {
    socket.on('error', () => undefined);
    open.push(socket);
    serve(socket);
  });
  await new Promise<void>((done) => server?.listen(path, done));
  const client = await connectLocal(path, 1_000);
  client.on('error', () => undefined);
  open.push(client);
  return client;
}

function deferred<T>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

const closed = (socket: Socket): Promise<unknown> => new Promise((done) => socket.resume().once('close', done));

describe('the greeting', () => {
  it('reads the attacher from the first line, and leaves the rest to the next reader', async () => {
    const heard = deferred<[Hello | undefined, string]>();
    const client = await pair(async (socket) => {
      const hello = await receiveHello(socket, 'secret');
      welcome(socket);
      socket.once('data', (chunk) => heard.resolve([hello, String(chunk)]));
      socket.resume();
    });
    const greeting = greet(client, { token: 'secret', kind: 'control', holds: false });
    client.write('the first frame\n');
    expect(await greeting).toMatchObject({ ok: true, pid: process.pid });
    expect(await heard.promise).toEqual([
      { link: 1, token: 'secret', kind: 'control', holds: false },
      'the first frame\n',
    ]);
  });

  it.each([
    ['another token', { token: 'wrong', kind: 'session', link: 1 }],
    ['no token', { kind: 'session', link: 1 }],
    ['an invalid token', { token: 5, kind: 'session', link: 1 }],
  ])('sends nothing to an attacher with %s', async (_what, hello) => {
    const received = deferred<Hello | undefined>();
    const client = await pair(async (socket) => received.resolve(await receiveHello(socket, 'secret')));
    let heard = '';
    client.on('data', (chunk) => {
      heard += chunk;
    });
    client.write(`${JSON.stringify(hello)}\n`);
    await closed(client);
    expect(await received.promise).toBeUndefined();
    expect(heard).toBe('');
  });

  it.each([
    ['another link version', { token: 'secret', kind: 'session', link: 99 }, /another version/],
    ['an unknown kind', { token: 'secret', kind: 'spy', link: 1 }, /unknown kind/],
  ])('sends an attacher with %s the reason of the rejection', async (_what, hello, reason) => {
    const client = await pair(async (socket) => void (await receiveHello(socket, 'secret')));
    let heard = '';
    client.on('data', (chunk) => {
      heard += chunk;
    });
    client.write(`${JSON.stringify(hello)}\n`);
    await closed(client);
    expect(JSON.parse(heard)).toMatchObject({ ok: false, reason: expect.stringMatching(reason) });
  });

  it('gives up on a first line without an end', async () => {
    const client = await pair(async (socket) => void (await receiveHello(socket, 'secret')));
    client.write('x'.repeat(5_000));
    await closed(client);
  });

  it.each([
    ['sends nothing and closes', (socket: Socket) => void socket.end(), /did not answer/],
    ['sends something else', (socket: Socket) => void socket.write('HTTP/1.1 400\n'), /another version/],
    [
      'answers for another link version',
      (socket: Socket) => void socket.write('{"link":2,"ok":true}\n'),
      /another version/,
    ],
  ])('fails with one sentence if the worker %s', async (_what, serve, sentence) => {
    const client = await pair(serve);
    await expect(greet(client, { token: 'x', kind: 'session', holds: true })).rejects.toThrow(sentence);
  });

  it('fails if no worker listens', async () => {
    await expect(connectLocal(join(folder, 'nobody'), 1_000)).rejects.toThrow(/ENOENT/);
  });
});
