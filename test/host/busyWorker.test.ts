import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ensureWorkspaceState } from '../../src/config/state/stateFolder.ts';
import { attach } from '../../src/host/attach/attach.ts';
import { BUILD, VERSION } from '../../src/lib/build.ts';
import { receiveHello, welcome } from '../../src/link/linkHandshake.ts';
import { beat, heartbeat, LINK_VERSION, publishRendezvous } from '../../src/link/rendezvous.ts';
import { temporaryFolder } from '../support/workspace.ts';

const worker = (socket: string) => ({
  ...{ link: LINK_VERSION, pid: process.pid, socket, token: 'token', version: VERSION, build: BUILD },
  startedAt: Date.now(),
});

it('a host waits for a worker that beats but has no time to greet, and starts no other', async () => {
  const workspace = temporaryFolder('wg-busy-');
  const stateDir = join(workspace, 'state');
  const folder = ensureWorkspaceState(workspace, stateDir);
  const path = join(workspace, 's');
  let connections = 0;
  const listener = createServer({ pauseOnConnect: true }, async (socket) => {
    socket.on('error', () => undefined);
    connections += 1;
    if (connections > 1 && (await receiveHello(socket, 'token'))) welcome(socket);
  });
  await new Promise<void>((done) => listener.listen(path, done));
  publishRendezvous(folder, worker(path));
  const beating = setInterval(() => beat(folder), 500);
  onTestFinished(() => {
    clearInterval(beating);
    listener.close();
  });
  // A start would fail: there is no such program.
  const runtime = { workspace, stateDir, nodePath: process.execPath, workerScript: join(workspace, 'missing.cjs') };
  const socket = await attach(runtime, { kind: 'session', start: true, holds: true });
  expect([socket?.destroyed, connections]).toEqual([false, 2]);
  socket?.destroy();
});

it('the heartbeat is that of one worker, and of no successor', () => {
  const folder = temporaryFolder('wg-beat-');
  publishRendezvous(folder, worker('s'));
  const hasBeaten = heartbeat(folder);
  expect(hasBeaten()).toBe(false);
  const wait = new Int32Array(new SharedArrayBuffer(4));
  Atomics.wait(wait, 0, 0, 20);
  beat(folder);
  expect([hasBeaten(), hasBeaten()]).toEqual([true, false]);
  publishRendezvous(folder, worker('another'));
  beat(folder);
  expect(hasBeaten()).toBe(false);
});
