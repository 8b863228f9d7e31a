import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { WriteQueue } from '../../src/mcp/wire/writeQueue.ts';

/** A stream that takes one write and then nothing, until the test releases it. */
class Stuck extends Writable {
  readonly taken: string[] = [];
  #release: (() => void) | undefined;
  #open = false;

  constructor() {
    super({ highWaterMark: 10 });
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.taken.push(String(chunk));
    if (this.#open) done();
    else this.#release = done;
  }

  letGo(): void {
    this.#open = true;
    this.#release?.();
  }
}

const limits = { bytes: 1_000, stalledFrames: 3, stallMs: 0, frames: 100 };

describe('frames on their way to a server', () => {
  it('wait in order while the server does not read, and continue when it does', async () => {
    const output = new Stuck();
    const queue = new WriteQueue(output);
    const writes = ['aaaaaaaaaa', 'b', 'c', 'd'].map((frame) => queue.write(frame));
    expect(output.taken).toEqual(['aaaaaaaaaa']);
    output.letGo();
    await Promise.all(writes);
    expect(output.taken.join('')).toBe('aaaaaaaaaabcd');
  });

  it('beyond the limits are rejected, and no part of them is sent', async () => {
    const output = new Stuck();
    let refused = 0;
    const onRefused = (): void => {
      refused += 1;
    };
    const queue = new WriteQueue(output, onRefused, limits);
    await queue.write('aaaaaaaaaa');
    const waiting = ['b', 'c', 'd'].map((frame) => queue.write(frame));
    await expect(queue.write('e')).rejects.toMatchObject({
      failure: 'busy',
      message: expect.stringContaining('3 messages wait'),
    });
    expect(refused).toBe(1);
    output.letGo();
    await Promise.all(waiting);
    await queue.write('f');
    expect(output.taken.join('')).toBe('aaaaaaaaaabcdf');
  });

  it('of a burst may be many if the server has only just stopped reading', async () => {
    const output = new Stuck();
    const queue = new WriteQueue(output, undefined, { ...limits, stallMs: 60_000 });
    const writes = Array.from({ length: 50 }, () => queue.write('aaaaaaaaaa'));
    output.letGo();
    expect(await Promise.allSettled(writes)).toEqual(writes.map(() => ({ status: 'fulfilled', value: undefined })));
  });

  it('take no more memory than the limit', async () => {
    const queue = new WriteQueue(new Stuck(), undefined, { ...limits, stallMs: 60_000 });
    await queue.write('aaaaaaaaaa');
    void queue.write('b'.repeat(900)).catch(() => undefined);
    await expect(queue.write('c'.repeat(200))).rejects.toMatchObject({
      failure: 'busy',
      message: expect.stringContaining('bytes wait'),
    });
  });

  it('are all settled when the connection closes', async () => {
    const output = new Stuck();
    const queue = new WriteQueue(output);
    const writes = Array.from({ length: 20 }, () => queue.write('aaaaaaaaaa'));
    queue.close();
    const settled = await Promise.allSettled(writes);
    expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(19);
    await expect(queue.write('x')).rejects.toMatchObject({ failure: 'gone' });
  });
});
