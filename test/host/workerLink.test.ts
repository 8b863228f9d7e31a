import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat } from 'node:fs';
import { createServer, Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type LossFacts, WorkerConnection } from '../../src/host/attach/workerConnection.ts';
import { WorkerLink } from '../../src/host/attach/workerLink.ts';
import { deferred } from '../../src/lib/deferred.ts';
import { connectLocal } from '../../src/link/localSocket.ts';
import { until } from '../support/hostProcess.ts';
import { temporaryFolder } from '../support/workspace.ts';

interface LinkTerms {
  /** Whether the client waits for an answer. */
  waiting?: boolean;
  /** How long a silent worker is trusted: for ever where the test says nothing, however busy the machine is. */
  silenceMs?: number;
  pingMs?: number;
}

/** A link to workers over real sockets; each worker is a socket that does what the test has it do. */
async function link(worker: (socket: Socket) => void, { waiting = true, ...limits }: LinkTerms = {}) {
  const path = join(temporaryFolder('wg-worker-'), 's');
  const workers: Socket[] = [];
  const listener = createServer((socket) => {
    socket.on('error', () => undefined);
    workers.push(socket);
    worker(socket);
  });
  await new Promise<void>((done) => listener.listen(path, done));
  const frames: string[] = [];
  const lost: number[] = [];
  const it = new WorkerLink({
    attach: async () => {
      const socket = await connectLocal(path, 1_000);
      socket.on('error', () => undefined);
      return socket;
    },
    onAttached: () => undefined,
    isWaiting: () => waiting,
    onFrame: (frame) => void frames.push(String(frame)),
    onDrain: () => undefined,
    onLost: (generation) => void lost.push(generation),
    onUnavailable: () => undefined,
    ...NEVER_SILENT,
    ...limits,
  });
  onTestFinished(() => {
    it.close();
    for (const socket of workers) socket.destroy();
    listener.close();
  });
  it.connect();
  await until('the worker', () => workers.length > 0 && (it.attached || lost.length > 0));
  return { link: it, workers, frames, lost };
}

const NEVER_SILENT = { silenceMs: 3_600_000, pingMs: 3_600_000 };

/** A link whose workers are had, or not, as the test says; each attempt is the word whether one may be started. */
function linkWhere(attach: (start: boolean) => Promise<Socket | undefined>) {
  const attempts: boolean[] = [];
  const told: string[] = [];
  const it = new WorkerLink({
    attach: (_, start) => {
      attempts.push(start);
      return attach(start);
    },
    onAttached: (generation) => void told.push(`attached ${generation}`),
    isWaiting: () => false,
    onFrame: () => undefined,
    onDrain: () => undefined,
    onLost: (generation) => void told.push(`lost ${generation}`),
    lastWords: () => 'its last words',
    onUnavailable: ({ code, detail }, line) => void told.push(`${code} (${detail}): ${line}`),
  });
  onTestFinished(() => it.close());
  return { link: it, attempts, told };
}

/** A link that always finds another worker. */
function linkToAny() {
  const workers: Socket[] = [];
  const found = linkWhere(async () => {
    const socket = worker();
    workers.push(socket);
    return socket;
  });
  return { ...found, workers };
}

const NONE = 'spawn_failed (none can be had): none can be had';
const none = () => Promise.reject(new Error('none can be had'));
/** It lives for as long as nobody destroys it. */
const worker = () => new Socket();

/** Until it is a crash loop: whoever needs a worker now does not wait for the pace. */
async function keepAsking(it: WorkerLink): Promise<void> {
  while (it.health.supervision !== 'crash_loop') {
    it.connect();
    await pause(1);
  }
}

/** Says something as soon as it is attached to, and is killed before anybody can read it. */
const SAYS_AND_DIES = `
  require('node:net').createServer((socket) => {
    socket.write('its last words\\n', () => process.kill(process.pid, 'SIGKILL'));
  }).listen(process.argv[1], () => console.log('listens'));
`;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Answers pings as the worker's MCP server does, and counts them. */
function answering() {
  let answers = 0;
  const worker = (socket: Socket): void => {
    socket.on('data', (chunk) => {
      for (const line of String(chunk).split('\n').filter(Boolean)) {
        const { id } = JSON.parse(line) as { id: string };
        socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: {} })}\n`);
        answers += 1;
      }
    });
  };
  return { worker, answers: () => answers };
}

describe('the link to a worker', () => {
  it('gives up a worker that is silent while an answer is awaited, and finds another', async () => {
    const { workers, lost } = await link((socket) => void socket.resume(), { silenceMs: 50, pingMs: 100 });
    await until('another worker', () => workers.length >= 2);
    expect(lost[0]).toBe(1);
  });

  it('stays with a silent worker that answers a ping, and keeps the answer to itself', async () => {
    const { worker, answers } = answering();
    const { workers, lost, frames } = await link(worker, { silenceMs: 50 });
    // It is asked again only where the answer before was heard.
    await until('some pings', () => answers() >= 4);
    expect({ workers: workers.length, lost, frames }).toEqual({ workers: 1, lost: [], frames: [] });
  });

  it('asks nothing of a worker that nobody waits for', async () => {
    let heard = '';
    const { lost } = await link((socket) => void socket.on('data', (chunk) => (heard += String(chunk))), {
      waiting: false,
      silenceMs: 50,
      pingMs: 100,
    });
    await pause(300);
    expect({ heard, lost }).toEqual({ heard: '', lost: [] });
  });

  it('does not take its own pause for silence', async () => {
    const { link: it, lost } = await link((socket) => void socket.resume(), { silenceMs: 500, pingMs: 500 });
    it.pause();
    await pause(1_200);
    expect(lost).toEqual([]);
  });

  it('finds another worker at once when one goes', async () => {
    const { link: it, workers, lost } = await link((socket) => void socket.resume());
    workers[0]?.destroy();
    await until('another worker', () => workers.length === 2 && it.attached);
    expect({ lost: lost[0], generation: it.generation }).toEqual({ lost: 1, generation: 2 });
  });

  it('keeps a worker that was replaced until it goes, and sends it only what is its own', async () => {
    const heard: string[] = ['', ''];
    let n = 0;
    const {
      link: it,
      workers,
      frames,
      lost,
    } = await link((socket) => {
      const worker = n++;
      socket.on('data', (chunk) => {
        heard[worker] += String(chunk);
      });
    });
    it.supersede(1);
    await until('its successor', () => it.attached && workers.length === 2);
    expect(it.send(Buffer.from('new\n'))).toBe(true);
    expect(it.sendTo(1, Buffer.from('own\n'))).toBe(true);
    workers[0]?.write('{"late":1}\n');
    await until('both', () => heard[0] !== '' && heard[1] !== '' && frames.length === 1);
    expect({ heard, frames, lost }).toEqual({ heard: ['own\n', 'new\n'], frames: ['{"late":1}'], lost: [] });
    workers[0]?.destroy();
    await until('its end', () => lost.length === 1);
    expect({ lost, attached: it.attached, generation: it.generation }).toEqual({
      lost: [1],
      attached: true,
      generation: 2,
    });
    expect(it.sendTo(1, Buffer.from('gone\n'))).toBeUndefined();
  });

  it('looks for no other after a worker that was asked to stop, until it is woken', async () => {
    const { link: it, workers, lost } = await link((socket) => void socket.resume());
    it.rest();
    workers[0]?.destroy();
    await until('the loss', () => lost.length === 1);
    await pause(200);
    expect({ resting: it.resting, workers: workers.length }).toEqual({ resting: true, workers: 1 });
    it.wake();
    await until('another worker', () => workers.length === 2);
  });

  it('takes its time between attempts, unless somebody needs a worker now, and counts none that was not there', async () => {
    const { link: it, attempts, told } = linkWhere(none);
    await keepAsking(it);
    expect({ attempts, told }).toEqual({ attempts: Array(5).fill(true), told: Array(5).fill(NONE) });
    expect({ ...it.health, link: it.generation }).toMatchObject({
      link: 0,
      generation: 1,
      consecutive_failures: 5,
      restart_count: 4,
      last_fault: { generation: 1, code: 'spawn_failed', detail: 'none can be had' },
    });
  });

  it('where workers keep ending joins one that somebody else has started, and starts none', async () => {
    let others: Socket | undefined;
    const { link: it, attempts, told } = linkWhere((start) => (start ? none() : Promise.resolve(others)));
    await keepAsking(it);
    attempts.length = 0;
    told.length = 0;
    it.connect();
    it.connect();
    await pause(1);
    expect({ attempts, attached: it.attached, told }).toEqual({ attempts: [false], attached: false, told: [] });
    others = worker();
    it.connect();
    await pause(1);
    expect({ attempts, attached: it.attached, told }).toEqual({
      attempts: [false, false],
      attached: true,
      told: ['attached 1'],
    });
    // To have been joined is no proof of it: it ends in the same crash loop.
    others.destroy();
    await until('its end', () => it.health.supervision === 'crash_loop');
    expect(told.slice(1)).toEqual(['lost 1', 'crash_loop (its last words): it ended several times in a row']);
    expect({ attempts, attached: it.attached }).toEqual({ attempts: [false, false], attached: false });
  });

  it('starts one when its minute is over, though somebody just looks for one to join', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const joining = deferred<undefined>();
    const { link: it, attempts } = linkWhere((start) => (start ? none() : joining.promise));
    it.connect();
    while (it.health.supervision !== 'crash_loop') await vi.advanceTimersByTimeAsync(100);
    const { next_attempt_in_ms: left = 0 } = it.health;
    await vi.advanceTimersByTimeAsync(left - 10);
    it.connect();
    await vi.advanceTimersByTimeAsync(20);
    joining.resolve(undefined);
    expect(attempts).toEqual([...Array(5).fill(true), false, true]);
    // And so on, each minute.
    await vi.advanceTimersByTimeAsync(60_000);
    expect(attempts.slice(7)).toEqual([true]);
  });

  it('begins anew with a worker that has answered somebody: it is no crash loop', async () => {
    const { link: it, told, workers } = linkToAny();
    it.connect();
    for (let n = 1; n <= 6; n++) {
      await until('a worker', () => it.attached && it.generation === n);
      it.proved();
      workers.at(-1)?.destroy();
    }
    await until('the next', () => it.attached && it.generation === 7);
    expect(told.filter((line) => line.startsWith('lost'))).toHaveLength(6);
    expect(told.filter((line) => line.startsWith('crash_loop'))).toEqual([]);
  });

  it('counts no failure where a worker was asked to go, and starts another for who still waits', async () => {
    const { link: it, told, workers } = linkToAny();
    it.connect();
    await until('a worker', () => it.attached);
    it.rest();
    workers[0]?.destroy();
    await until('the loss', () => told.includes('lost 1'));
    expect(it.health).toMatchObject({ supervision: 'idle', consecutive_failures: 0 });
    expect(it.health).not.toHaveProperty('last_fault');
    it.wake();
    await until('another', () => it.attached);
    expect({ told, ...it.health }).toMatchObject({
      told: ['attached 1', 'lost 1', 'attached 2'],
      generation: 2,
      restart_count: 0,
    });
  });

  it('tells of a loss before it looks for another, and loses no worker with the one that it has replaced', async () => {
    const workers: Socket[] = [];
    const looked: string[][] = [];
    const { link: it, told } = linkWhere(async () => {
      looked.push([...told]);
      workers.push(worker());
      return workers.at(-1);
    });
    it.connect();
    await until('a worker', () => it.attached);
    workers[0]?.destroy();
    await until('the second', () => it.attached && it.generation === 2);
    expect(looked).toEqual([[], ['attached 1', 'lost 1']]);
    it.supersede(2);
    await until('the third', () => it.attached && it.generation === 3);
    // The last word of the one before: it is about itself.
    it.rest();
    workers[1]?.destroy();
    await until('its end', () => told.includes('lost 2'));
    expect({ attached: it.attached, looked: looked.length, ...it.health }).toMatchObject({
      attached: true,
      looked: 3,
      supervision: 'running',
    });
    it.wake();
    it.supersede(3);
    await until('the fourth', () => it.attached && it.generation === 4);
    it.close();
    expect(workers.map(({ destroyed }) => destroyed)).toEqual([true, true, true, true]);
  });

  it('lets go of a worker that comes when the session has ended', async () => {
    const late = worker();
    let found: (socket: Socket) => void = () => undefined;
    const coming = new Promise<Socket>((done) => {
      found = done;
    });
    const { link: it, told } = linkWhere(() => coming);
    it.connect();
    it.close();
    found(late);
    await until('its end', () => late.destroyed);
    expect({ told, attached: it.attached }).toEqual({ told: [], attached: false });
  });

  it('lets go of the worker of somebody else that comes when the session has ended', async () => {
    const late = worker();
    let found: (socket: Socket) => void = () => undefined;
    const coming = new Promise<Socket>((done) => {
      found = done;
    });
    const { link: it, told } = linkWhere((start) => (start ? none() : coming));
    await keepAsking(it);
    told.length = 0;
    it.connect();
    it.close();
    found(late);
    await until('its end', () => late.destroyed);
    expect({ told, attached: it.attached }).toEqual({ told: [], attached: false });
  });

  it('hears out a worker that was killed, though it writes to it before it reads', async () => {
    const path = join(temporaryFolder('wg-worker-'), 's');
    const worker = spawn(process.execPath, ['-e', SAYS_AND_DIES, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(worker, 'exit');
    await once(worker.stdout, 'data');
    const socket = await connectLocal(path, 1_000);
    socket.on('error', () => undefined);
    const heard: string[] = [];
    const closed = new Promise<LossFacts>((onClosed) => {
      const events = { isWaiting: () => true, onFrame: (frame: Buffer) => void heard.push(String(frame)) };
      const limits = { silenceMs: 60_000, pingMs: 60_000 };
      const connection = new WorkerConnection(1, socket, { ...events, onDrain: () => undefined, onClosed }, limits);
      // From here to the write nothing is read: between two looks at its sockets, and the worker ends meanwhile.
      stat(path, () => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
        connection.send(Buffer.from('is not read by anybody\n'));
      });
    });
    expect(await closed).toEqual({ loss: 'gone', heardOut: true });
    expect(heard).toEqual(['its last words']);
    await ended;
  });
});
