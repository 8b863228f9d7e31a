import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, vi } from 'vitest';
import { type Heap, IdleCollection } from '../../src/lib/idleCollection.ts';

const MB = 1024 * 1024;

/** Makes a collection over a heap that the test fills, of which 10 MB are in use, and a clock that the test moves. */
function collection() {
  let now = 0;
  let bytes = 10 * MB;
  let due: { at: number; run: () => void } | undefined;
  const collected: number[] = [];
  const heap: Heap = {
    bytes: () => bytes,
    collect(onCollected) {
      collected.push(now);
      bytes = 10 * MB;
      onCollected();
    },
  };
  const clock = {
    now: () => now,
    after(ms: number, run: () => void) {
      expect(due, 'one timer at a time').toBeUndefined();
      due = { at: now + ms, run };
      return () => undefined;
    },
  };
  const idle = new IdleCollection(heap, clock);
  return {
    collected,
    work(allocated: number) {
      bytes += allocated;
      idle.work();
    },
    wait(ms: number) {
      const end = now + ms;
      while (due && due.at <= end) {
        const { at, run } = due;
        due = undefined;
        now = at;
        run();
      }
      now = end;
    },
  };
}

it('collects once, three seconds after the last work', () => {
  const { work, wait, collected } = collection();
  for (let n = 0; n < 20; n++) {
    work(MB);
    wait(1_000);
  }
  expect(collected).toEqual([]);
  wait(60_000);
  expect(collected).toEqual([22_000]);
});

it('collects again only when the heap has grown by 8 MB', () => {
  const { work, wait, collected } = collection();
  work(20 * MB);
  wait(10_000);
  work(7 * MB);
  wait(10_000);
  expect(collected).toEqual([3_000]);
  work(MB);
  wait(10_000);
  expect(collected).toEqual([3_000, 23_000]);
});

it('returns memory of a real process, which goes on reading its input', async () => {
  const module = resolve('src/lib/idleCollection.ts');
  const script = `
    import { V8_HEAP } from ${JSON.stringify(module)};
    let garbage = Array.from({ length: 500_000 }, (_, n) => ({ n }));
    const before = V8_HEAP.bytes() + garbage.length * 0;
    garbage = undefined;
    V8_HEAP.collect(() => setTimeout(() => {
      process.stdin.on('data', (line) => {
        process.stdout.write(JSON.stringify({ line: String(line), returned: before - V8_HEAP.bytes() }));
        process.exit(0);
      });
    }, 50));
  `;
  const run = promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  run.child.stdin?.write('hello');
  const { line, returned } = JSON.parse((await run).stdout) as { line: string; returned: number };
  expect(line).toBe('hello');
  expect(returned).toBeGreaterThan(10 * MB);
});

it('keeps the garbage where Node has no inspector', async () => {
  vi.resetModules();
  vi.doMock('node:inspector', () => ({
    Session: class {
      connect(): void {
        throw new Error('ERR_INSPECTOR_NOT_AVAILABLE');
      }
    },
  }));
  const { V8_HEAP } = await import('../../src/lib/idleCollection.ts');
  const onCollected = vi.fn();
  expect(() => V8_HEAP.collect(onCollected)).not.toThrow();
  expect(onCollected).not.toHaveBeenCalled();
  vi.doUnmock('node:inspector');
});
