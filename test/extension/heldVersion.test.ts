import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HeldVersion } from '../../src/extension/gateway/heldVersion.ts';

let version: HeldVersion;
let told: (string | undefined)[];
const see = (sessions: number, mode = 'gateway'): void => version.see({ sessions, mode });

beforeEach(() => {
  vi.useFakeTimers();
  version = new HeldVersion('a');
  told = [];
  version.hash.onChange((hash) => told.push(hash));
});
afterEach(() => {
  version.dispose();
  expect(vi.getTimerCount(), 'timers left behind').toBe(0);
  vi.useRealTimers();
});

describe('the version of the definition', () => {
  it('stays while a session runs, and follows when none has been there for a while', () => {
    see(1);
    version.write('b');
    vi.advanceTimersByTime(60_000);
    expect(version.hash.value).toBe('a');
    see(0);
    vi.advanceTimersByTime(9_000);
    expect(told).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(told).toEqual(['b']);
    // From then on it is that of every change.
    version.write('c');
    see(0);
    expect(told).toEqual(['b', 'c']);
    see(1);
    version.write('d');
    expect(version.hash.value).toBe('c');
  });

  it('does not take the moment for the end in which sessions move to another worker', () => {
    see(2);
    version.write('b');
    see(0);
    vi.advanceTimersByTime(5_000);
    version.see(undefined);
    see(2);
    vi.advanceTimersByTime(60_000);
    expect(told).toEqual([]);
  });

  it('follows at once where sessions would see the servers otherwise', () => {
    see(1);
    version.write('b');
    see(1, 'passthrough');
    expect(told).toEqual(['b']);
    // Whichever of the two is heard of first.
    see(1, 'gateway');
    version.write('c');
    expect(told).toEqual(['b', 'c']);
    version.write('d');
    expect(told).toEqual(['b', 'c']);
  });

  it('goes and comes with the configuration', () => {
    see(1);
    version.write(undefined);
    version.write('b');
    expect(told).toEqual([undefined, 'b']);
  });

  it('is what it was as long as nobody knows whether there is a session', () => {
    version.write('b');
    version.see(undefined);
    vi.advanceTimersByTime(60_000);
    expect(told).toEqual([]);
  });
});
