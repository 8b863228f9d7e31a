import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { debounced, throttled } from '../../src/extension/gateway/pacing.ts';
import { Observable } from '../../src/extension/observable.ts';
import { amounts, asSentence } from '../../src/extension/plainText.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('debounced', () => {
  it('acts once, after the burst', () => {
    const action = vi.fn();
    const paced = debounced(100, action);
    paced();
    vi.advanceTimersByTime(99);
    paced();
    vi.advanceTimersByTime(99);
    expect(action).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(action).toHaveBeenCalledTimes(1);
  });

  it('does not act after its disposal', () => {
    const action = vi.fn();
    const paced = debounced(100, action);
    paced();
    paced.dispose();
    vi.advanceTimersByTime(1_000);
    expect(action).not.toHaveBeenCalled();
  });
});

describe('throttled', () => {
  it('acts at once, then at most once per interval, and always runs the last call', () => {
    const at: number[] = [];
    const began = Date.now();
    const paced = throttled(1_000, () => at.push(Date.now() - began));
    for (let call = 0; call < 25; call += 1) {
      paced();
      vi.advanceTimersByTime(100);
    }
    vi.advanceTimersByTime(10_000);
    paced();
    expect(at).toEqual([0, 1_000, 2_000, 3_000, 12_500]);
  });

  it('does not act after its disposal', () => {
    const action = vi.fn();
    const paced = throttled(1_000, action);
    paced();
    paced();
    paced.dispose();
    vi.advanceTimersByTime(5_000);
    expect(action).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('Observable', () => {
  it('reports only changes, and not to removed listeners', () => {
    const seen: number[] = [];
    const value = new Observable(1);
    const watching = value.onChange((next) => seen.push(next));
    value.set(1);
    value.set(2);
    watching.dispose();
    value.set(3);
    expect(seen).toEqual([2]);
    expect(value.value).toBe(3);
  });

  it('uses the given comparison', () => {
    const seen: string[] = [];
    const value = new Observable('a', (a, b) => a.toLowerCase() === b.toLowerCase());
    value.onChange((next) => seen.push(next));
    value.set('A');
    value.set('b');
    expect(seen).toEqual(['b']);
  });
});

describe('foreign text', () => {
  it('becomes a sentence', () => {
    expect(asSentence('spawn ENOENT')).toBe('spawn ENOENT.');
    expect(asSentence('Really?')).toBe('Really?');
    expect(asSentence('')).toBe('');
  });

  it('agrees in number', () => {
    expect([amounts.tools(0), amounts.tools(1), amounts.tools(2)]).toEqual(['0 tools', '1 tool', '2 tools']);
  });
});
