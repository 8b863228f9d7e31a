import { timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import { parseRecord } from '../lib/isRecord.ts';
import { isMode, type Mode } from './mode.ts';
import { LINK_VERSION } from './rendezvous.ts';

/**
 * First line on the private socket. The attaching process proves the token before anything else is read. Then the
 * socket carries MCP frames (`session`) or the control channel (`control`).
 */
export interface Hello {
  link: number;
  token: string;
  kind: 'session' | 'control';
  /** Whether the worker stays up for this process. A passing question (`waygate status`) does not hold it. */
  holds: boolean;
  /** Whether frames name their related request, for a host with several streams per client. */
  marksRelated?: boolean;
  /** Mode of the session. */
  mode?: Mode;
}

export interface Welcome {
  link: number;
  ok: boolean;
  pid: number;
  /** Reason for a refusal, in one sentence. */
  reason?: string;
}

/** Size limit, above any valid greeting. */
const MAX_HELLO_BYTES = 4096;
/** Time limit for the greeting. A local process sends it within a millisecond. */
const HELLO_TIMEOUT_MS = 2_000;
/** Time limit for the answer, which may wait for a worker that is building its catalog. */
const WELCOME_TIMEOUT_MS = 5_000;

export async function greet(socket: Socket, hello: Omit<Hello, 'link'>): Promise<Welcome> {
  socket.write(`${JSON.stringify({ link: LINK_VERSION, ...hello })}\n`);
  const answer = await readLine(socket, WELCOME_TIMEOUT_MS);
  if (answer === undefined) throw new Error('the worker did not answer the greeting');
  const welcome = parseRecord(answer) as Partial<Welcome> | undefined;
  if (welcome?.link !== LINK_VERSION || typeof welcome.ok !== 'boolean') {
    throw new Error('the worker speaks another version of the private link');
  }
  return welcome as Welcome;
}

/** Reads and checks the greeting. Without a valid token the socket is closed and the result undefined. */
export async function receiveHello(socket: Socket, token: string): Promise<Hello | undefined> {
  const line = await readLine(socket, HELLO_TIMEOUT_MS);
  const hello = line === undefined ? undefined : (parseRecord(line) as Partial<Hello> | undefined);
  const refuse = (reason: string): undefined => {
    socket.end(`${JSON.stringify({ link: LINK_VERSION, ok: false, pid: process.pid, reason } satisfies Welcome)}\n`);
    return undefined;
  };
  if (hello === undefined || typeof hello.token !== 'string' || !sameToken(hello.token, token)) {
    // A process without the token gets no answer.
    socket.destroy();
    return undefined;
  }
  if (hello.link !== LINK_VERSION) return refuse('this worker speaks another version of the private link');
  if (hello.kind !== 'session' && hello.kind !== 'control') return refuse('unknown kind of attacher');
  const marks = hello.marksRelated === true ? { marksRelated: true } : {};
  const mode = isMode(hello.mode) ? { mode: hello.mode } : {};
  return { link: LINK_VERSION, token, kind: hello.kind, holds: hello.holds !== false, ...mode, ...marks };
}

export function welcome(socket: Socket): void {
  socket.write(`${JSON.stringify({ link: LINK_VERSION, ok: true, pid: process.pid } satisfies Welcome)}\n`);
}

function sameToken(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Reads one line off a paused socket and puts back the rest; `undefined` when no line comes. */
function readLine(socket: Socket, timeoutMs: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    let buffered = Buffer.alloc(0);
    const finish = (line: string | undefined): void => {
      clearTimeout(timer);
      socket.off('data', onData).off('end', onEnd).off('error', onEnd).off('close', onEnd);
      socket.pause();
      resolve(line);
    };
    const onEnd = (): void => finish(undefined);
    const onData = (chunk: Buffer): void => {
      buffered = Buffer.concat([buffered, chunk]);
      const end = buffered.indexOf(0x0a);
      if (end === -1) {
        if (buffered.length > MAX_HELLO_BYTES) finish(undefined);
        return;
      }
      const rest = buffered.subarray(end + 1);
      finish(buffered.toString('utf8', 0, end));
      if (rest.length > 0) socket.unshift(rest);
    };
    // After a blocked event loop the line may have arrived without having been read.
    const timer = setTimeout(() => setImmediate(onEnd), timeoutMs);
    socket.on('data', onData).on('end', onEnd).on('error', onEnd).on('close', onEnd);
    socket.resume();
  });
}
