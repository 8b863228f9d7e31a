import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { HeldMemory } from '../../src/host/session/heldSession.ts';
import { readWorkerFrame } from '../../src/host/session/workerFrame.ts';
import { encodeMessage, KEEP_NOTIFICATION } from '../../src/link/frames.ts';

type Kept = [key: string, value: unknown, age: number][];
const kept = (memory: HeldMemory): Kept =>
  memory.frames().flatMap((frame) => (JSON.parse(frame) as { params: { kept: Kept } }).params.kept);

describe('the memory that workers keep with a host', () => {
  it('returns the latest value of each key unchanged', () => {
    const memory = new HeldMemory();
    expect(memory.frames()).toEqual([]);
    memory.keep('a', { n: 1 }, 10);
    memory.keep('b', 'two', 10);
    memory.keep('a', null, 10);
    expect(kept(memory).map(([key, value]) => [key, value])).toEqual([
      ['b', 'two'],
      ['a', null],
    ]);
    memory.keep('b', undefined, 10);
    memory.keep('none', undefined, 10);
    expect(kept(memory).map(([key]) => key)).toEqual(['a']);
    expect(JSON.parse(memory.frames()[0] as string)).toMatchObject({ method: 'notifications/waygate/kept' });
  });

  it('contains the age of each value in seconds', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const memory = new HeldMemory();
    memory.keep('a', 1, 10);
    vi.advanceTimersByTime(1_500);
    memory.keep('b', 2, 10);
    vi.advanceTimersByTime(500);
    expect(kept(memory)).toEqual([
      ['a', 1, 2],
      ['b', 2, 0.5],
    ]);
  });

  it('is limited in number and bytes: the oldest values are dropped', () => {
    const memory = new HeldMemory();
    for (let i = 0; i < 130; i++) memory.keep(`k${i}`, i, 10);
    expect(kept(memory).map(([key]) => key)).toEqual(Array.from({ length: 128 }, (_, i) => `k${i + 2}`));
    memory.keep('large', 'x', 1024 * 1024 - 15);
    expect(kept(memory).map(([key]) => key)).toEqual(['k129', 'large']);
    // A value that would fill the memory alone is rejected; the previous value stays.
    memory.keep('large', 'y', 1024 * 1024 + 1);
    expect(kept(memory).map(([, value]) => value)).toEqual([129, 'x']);
    memory.keep('large', undefined, 10);
    for (let i = 0; i < 100; i++) memory.keep('same', i, 100_000);
    expect(kept(memory).map(([, value]) => value)).toEqual([129, 99]);
  });

  it('counts the size of the frame', () => {
    const frame = (params: object) => Buffer.from(encodeMessage({ method: KEEP_NOTIFICATION, params }));
    const said = frame({ key: 'a', value: [1] });
    expect(readWorkerFrame(said)).toEqual({ kind: 'keep', key: 'a', value: [1], bytes: said.length });
    expect(readWorkerFrame(frame({ key: 'a' }))).toMatchObject({ kind: 'keep', key: 'a', value: undefined });
  });
});
