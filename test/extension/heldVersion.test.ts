import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { HeldVersion } from '../../src/extension/gateway/heldVersion.ts';

let version: HeldVersion;
let versions: (string | undefined)[];
const see = (sessions: number, mode = 'gateway'): void => version.see({ sessions, mode });

beforeEach(() => {
  vi.useFakeTimers();
  version = new HeldVersion('a');
  versions = [];
  version.hash.onChange((hash) => versions.push(hash));
});
afterEach(() => {
  version.dispose();
  expect(vi.getTimerCount(), 'timers left behind').toBe(0);
  vi.useRealTimers();
});

describe('version of the definition', () => {
  it('stays while a session runs, and follows once there has been no session for a while', () => {
    see(1);
    version.write('b');
    vi.advanceTimersByTime(60_000);
    expect(version.hash.value).toBe('a');
    see(0);
    vi.advanceTimersByTime(9_000);
    expect(versions).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(versions).toEqual(['b']);
    // From then on it follows every change.
    version.write('c');
    see(0);
    expect(versions).toEqual(['b', 'c']);
    see(1);
    version.write('d');
    expect(version.hash.value).toBe('c');
  });

  it('does not take the moment in which sessions move to another worker for their end', () => {
    see(2);
    version.write('b');
    see(0);
    vi.advanceTimersByTime(5_000);
    version.see(undefined);
    see(2);
    vi.advanceTimersByTime(60_000);
    expect(versions).toEqual([]);
  });

  it('stays from the moment in which the editor starts the server, whether or not its session is known', () => {
    see(0);
    vi.advanceTimersByTime(10_000);
    version.write('b');
    expect(versions).toEqual(['b']);
    version.starting('b');
    version.write('c');
    // Snapshots of the worker that do not know the session yet.
    see(0);
    vi.advanceTimersByTime(50_000);
    see(0);
    expect(versions).toEqual(['b']);
    see(1);
    vi.advanceTimersByTime(60_000);
    expect(versions).toEqual(['b']);
    see(0);
    vi.advanceTimersByTime(10_000);
    expect(versions).toEqual(['b', 'c']);
  });

  it('is that of the server that the editor starts, if a change is not announced yet', () => {
    see(0);
    vi.advanceTimersByTime(10_000);
    version.write('b');
    version.starting('a');
    expect(version.hash.value).toBe('a');
  });

  it('follows again if the started server has no session', () => {
    see(0);
    vi.advanceTimersByTime(10_000);
    version.starting('a');
    version.write('b');
    see(0);
    vi.advanceTimersByTime(60_000);
    expect(versions).toEqual(['b']);
  });

  it('follows at once if the mode changes', () => {
    see(1);
    version.write('b');
    see(1, 'passthrough');
    expect(versions).toEqual(['b']);
    // Either watcher may see the change first.
    see(1, 'gateway');
    version.write('c');
    expect(versions).toEqual(['b', 'c']);
    version.write('d');
    expect(versions).toEqual(['b', 'c']);
  });

  it('appears and disappears with the configuration', () => {
    see(1);
    version.write(undefined);
    version.write('b');
    expect(versions).toEqual([undefined, 'b']);
  });

  it('stays as it was while the number of sessions is unknown', () => {
    version.write('b');
    version.see(undefined);
    vi.advanceTimersByTime(60_000);
    expect(versions).toEqual([]);
  });
});
