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
  /** The client waits for an answer. */
  waiting?: boolean;
  /** Limit of silence; infinite by default, so that a busy machine does not matter. */
  silenceMs?: number;
  pingMs?: number;
  heartbeat?: () => () => boolean;
}

/** Makes a link to workers over real sockets; the test plays the worker. */
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
  const workerLink = new WorkerLink({
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
    workerLink.close();
    for (const socket of workers) socket.destroy();
    listener.close();
  });
  workerLink.connect();
  await until('the worker', () => workers.length > 0 && (workerLink.attached || lost.length > 0));
  return { link: workerLink, workers, frames, lost };
}

const NEVER_SILENT = { silenceMs: 3_600_000, pingMs: 3_600_000 };

/** Makes a link with a given `attach`. `attempts` holds the `start` argument of each attempt. */
function linkWhere(attach: (start: boolean) => Promise<Socket | undefined>) {
  const attempts: boolean[] = [];
  const reports: string[] = [];
  const workerLink = new WorkerLink({
    attach: (_, start) => {
      attempts.push(start);
      return attach(start);
    },
    onAttached: (generation) => void reports.push(`attached ${generation}`),
    isWaiting: () => false,
    onFrame: () => undefined,
    onDrain: () => undefined,
    onLost: (generation) => void reports.push(`lost ${generation}`),
    exitReason: () => 'final output',
    onUnavailable: ({ code, detail }, line) => void reports.push(`${code} (${detail}): ${line}`),
  });
  onTestFinished(() => workerLink.close());
  return { link: workerLink, attempts, reports };
}

/** Makes a link that always finds another worker. */
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
/** Makes a worker that lives until it is destroyed. */
const worker = () => new Socket();

/** Connects until the link is in a crash loop; each request skips the backoff. */
async function keepAsking(workerLink: WorkerLink): Promise<void> {
  while (workerLink.health.supervision !== 'crash_loop') {
    workerLink.connect();
    await pause(1);
  }
}

/** Writes a line to the first connection and is killed before anything is read. */
const SAYS_AND_DIES = `
  require('node:net').createServer((socket) => {
    socket.write('final output\\n', () => process.kill(process.pid, 'SIGKILL'));
  }).listen(process.argv[1], () => console.log('listens'));
`;

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

/** Answers pings like the worker's MCP server, and counts them. */
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

  it('keeps a silent worker that answers pings, and does not forward the answers', async () => {
    const { worker, answers } = answering();
    const { workers, lost, frames } = await link(worker, { silenceMs: 50 });
    // Each further ping proves that the previous answer was received.
    await until('some pings', () => answers() >= 4);
    expect({ workers: workers.length, lost, frames }).toEqual({ workers: 1, lost: [], frames: [] });
  });

  it('keeps a silent worker while it beats, and gives it up afterwards', async () => {
    let asked = 0;
    const hasBeaten = (): boolean => {
      asked += 1;
      return asked < 20;
    };
    const terms = { silenceMs: 20, pingMs: 20, heartbeat: () => hasBeaten };
    const { lost } = await link((socket) => void socket.resume(), terms);
    await until('the loss', () => lost.length > 0);
    expect(asked).toBeGreaterThanOrEqual(20);
  });

  it('sends no ping while no answer is awaited', async () => {
    let heard = '';
    const { lost } = await link((socket) => void socket.on('data', (chunk) => (heard += String(chunk))), {
      waiting: false,
      silenceMs: 50,
      pingMs: 100,
    });
    await pause(300);
    expect({ heard, lost }).toEqual({ heard: '', lost: [] });
  });

  it('does not mistake its own pause for silence', async () => {
    const { link: workerLink, lost } = await link((socket) => void socket.resume(), { silenceMs: 500, pingMs: 500 });
    workerLink.pause();
    await pause(1_200);
    expect(lost).toEqual([]);
  });

  it('finds another worker at once after a loss', async () => {
    const { link: workerLink, workers, lost } = await link((socket) => void socket.resume());
    workers[0]?.destroy();
    await until('another worker', () => workers.length === 2 && workerLink.attached);
    expect({ lost: lost[0], generation: workerLink.generation }).toEqual({ lost: 1, generation: 2 });
  });

  it('keeps a replaced worker until it ends, and sends it only frames of its own calls', async () => {
    const heard: string[] = ['', ''];
    let n = 0;
    const {
      link: workerLink,
      workers,
      frames,
      lost,
    } = await link((socket) => {
      const worker = n++;
      socket.on('data', (chunk) => {
        heard[worker] += String(chunk);
      });
    });
    workerLink.supersede(1);
    await until('the successor', () => workerLink.attached && workers.length === 2);
    expect(workerLink.send(Buffer.from('new\n'))).toBe(true);
    expect(workerLink.sendTo(1, Buffer.from('own\n'))).toBe(true);
    workers[0]?.write('{"late":1}\n');
    await until('both', () => heard[0] !== '' && heard[1] !== '' && frames.length === 1);
    expect({ heard, frames, lost }).toEqual({ heard: ['own\n', 'new\n'], frames: ['{"late":1}'], lost: [] });
    workers[0]?.destroy();
    await until('the end of the replaced worker', () => lost.length === 1);
    expect({ lost, attached: workerLink.attached, generation: workerLink.generation }).toEqual({
      lost: [1],
      attached: true,
      generation: 2,
    });
    expect(workerLink.sendTo(1, Buffer.from('gone\n'))).toBeUndefined();
  });

  it('looks for no other worker after a requested stop, until it is woken', async () => {
    const { link: workerLink, workers, lost } = await link((socket) => void socket.resume());
    workerLink.rest();
    workers[0]?.destroy();
    await until('the loss', () => lost.length === 1);
    await pause(200);
    expect({ resting: workerLink.resting, workers: workers.length }).toEqual({ resting: true, workers: 1 });
    workerLink.wake();
    await until('another worker', () => workers.length === 2);
  });

  it('backs off between attempts unless a worker is needed now, and does not count attempts as workers', async () => {
    const { link: workerLink, attempts, reports } = linkWhere(none);
    await keepAsking(workerLink);
    expect({ attempts, reports }).toEqual({ attempts: Array(5).fill(true), reports: Array(5).fill(NONE) });
    expect({ ...workerLink.health, link: workerLink.generation }).toMatchObject({
      link: 0,
      generation: 1,
      consecutive_failures: 5,
      restart_count: 4,
      last_fault: { generation: 1, code: 'spawn_failed', detail: 'none can be had' },
    });
  });

  it('in a crash loop joins a worker that another host has started, and starts none', async () => {
    let others: Socket | undefined;
    const { link: workerLink, attempts, reports } = linkWhere((start) => (start ? none() : Promise.resolve(others)));
    await keepAsking(workerLink);
    attempts.length = 0;
    reports.length = 0;
    workerLink.connect();
    workerLink.connect();
    await pause(1);
    expect({ attempts, attached: workerLink.attached, reports }).toEqual({
      attempts: [false],
      attached: false,
      reports: [],
    });
    others = worker();
    workerLink.connect();
    await pause(1);
    expect({ attempts, attached: workerLink.attached, reports }).toEqual({
      attempts: [false, false],
      attached: true,
      reports: ['attached 1'],
    });
    // Joining proves nothing about the worker: its end leaves the crash loop as it was.
    others.destroy();
    await until('the end of the joined worker', () => workerLink.health.supervision === 'crash_loop');
    expect(reports.slice(1)).toEqual(['lost 1', 'crash_loop (final output): it ended several times in a row']);
    expect({ attempts, attached: workerLink.attached }).toEqual({ attempts: [false, false], attached: false });
  });

  it('starts a worker when the backoff ends, even while it looks for one to join', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const joining = deferred<undefined>();
    const { link: workerLink, attempts } = linkWhere((start) => (start ? none() : joining.promise));
    workerLink.connect();
    while (workerLink.health.supervision !== 'crash_loop') await vi.advanceTimersByTimeAsync(100);
    const { next_attempt_in_ms: left = 0 } = workerLink.health;
    await vi.advanceTimersByTimeAsync(left - 10);
    workerLink.connect();
    await vi.advanceTimersByTimeAsync(20);
    joining.resolve(undefined);
    expect(attempts).toEqual([...Array(5).fill(true), false, true]);
    // And again after each minute.
    await vi.advanceTimersByTimeAsync(60_000);
    expect(attempts.slice(7)).toEqual([true]);
  });

  it('resets the crash-loop count when a worker has answered', async () => {
    const { link: workerLink, reports, workers } = linkToAny();
    workerLink.connect();
    for (let n = 1; n <= 6; n++) {
      await until('a worker', () => workerLink.attached && workerLink.generation === n);
      workerLink.proved();
      workers.at(-1)?.destroy();
    }
    await until('the next', () => workerLink.attached && workerLink.generation === 7);
    expect(reports.filter((line) => line.startsWith('lost'))).toHaveLength(6);
    expect(reports.filter((line) => line.startsWith('crash_loop'))).toEqual([]);
  });

  it('counts a requested stop as no failure, and starts another worker on demand', async () => {
    const { link: workerLink, reports, workers } = linkToAny();
    workerLink.connect();
    await until('a worker', () => workerLink.attached);
    workerLink.rest();
    workers[0]?.destroy();
    await until('the loss', () => reports.includes('lost 1'));
    expect(workerLink.health).toMatchObject({ supervision: 'idle', consecutive_failures: 0 });
    expect(workerLink.health).not.toHaveProperty('last_fault');
    workerLink.wake();
    await until('another', () => workerLink.attached);
    expect({ reports, ...workerLink.health }).toMatchObject({
      reports: ['attached 1', 'lost 1', 'attached 2'],
      generation: 2,
      restart_count: 0,
    });
  });

  it('reports a loss before it looks for another worker, and keeps the current worker when a replaced one ends', async () => {
    const workers: Socket[] = [];
    const looked: string[][] = [];
    const { link: workerLink, reports } = linkWhere(async () => {
      looked.push([...reports]);
      workers.push(worker());
      return workers.at(-1);
    });
    workerLink.connect();
    await until('a worker', () => workerLink.attached);
    workers[0]?.destroy();
    await until('the second', () => workerLink.attached && workerLink.generation === 2);
    expect(looked).toEqual([[], ['attached 1', 'lost 1']]);
    workerLink.supersede(2);
    await until('the third', () => workerLink.attached && workerLink.generation === 3);
    // A request to rest from the replaced worker concerns that worker only.
    workerLink.rest();
    workers[1]?.destroy();
    await until('the end of the replaced worker', () => reports.includes('lost 2'));
    expect({ attached: workerLink.attached, looked: looked.length, ...workerLink.health }).toMatchObject({
      attached: true,
      looked: 3,
      supervision: 'running',
    });
    workerLink.wake();
    workerLink.supersede(3);
    await until('the fourth', () => workerLink.attached && workerLink.generation === 4);
    workerLink.close();
    expect(workers.map(({ destroyed }) => destroyed)).toEqual([true, true, true, true]);
  });

  it('closes a worker that arrives after the end of the session', async () => {
    const late = worker();
    let found: (socket: Socket) => void = () => undefined;
    const coming = new Promise<Socket>((done) => {
      found = done;
    });
    const { link: workerLink, reports } = linkWhere(() => coming);
    workerLink.connect();
    workerLink.close();
    found(late);
    await until('the socket to be closed', () => late.destroyed);
    expect({ reports, attached: workerLink.attached }).toEqual({ reports: [], attached: false });
  });

  it('closes a joined worker that arrives after the end of the session', async () => {
    const late = worker();
    let found: (socket: Socket) => void = () => undefined;
    const coming = new Promise<Socket>((done) => {
      found = done;
    });
    const { link: workerLink, reports } = linkWhere((start) => (start ? none() : coming));
    await keepAsking(workerLink);
    reports.length = 0;
    workerLink.connect();
    workerLink.close();
    found(late);
    await until('the socket to be closed', () => late.destroyed);
    expect({ reports, attached: workerLink.attached }).toEqual({ reports: [], attached: false });
  });

  it('reads the final output of a killed worker even if a write comes first', async () => {
    const path = join(temporaryFolder('wg-worker-'), 's');
    const worker = spawn(process.execPath, ['-e', SAYS_AND_DIES, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = once(worker, 'exit');
    await once(worker.stdout, 'data');
    const socket = await connectLocal(path, 1_000);
    socket.on('error', () => undefined);
    const heard: string[] = [];
    const closed = new Promise<LossFacts>((onClosed) => {
      const onFrame = (frame: Buffer) => void heard.push(String(frame));
      const events = { isWaiting: () => true, hasBeaten: () => false, onFrame };
      const limits = { silenceMs: 60_000, pingMs: 60_000 };
      const connection = new WorkerConnection(1, socket, { ...events, onDrain: () => undefined, onClosed }, limits);
      // Block the event loop until the worker has ended, so that the write comes before any read.
      stat(path, () => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
        connection.send(Buffer.from('is not read by anybody\n'));
      });
    });
    expect(await closed).toEqual({ loss: 'gone', readToEnd: true });
    expect(heard).toEqual(['final output']);
    await ended;
  });
});
