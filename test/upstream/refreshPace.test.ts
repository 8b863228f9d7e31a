import { describe, expect, it } from 'vitest';
import { RefreshPace } from '../../src/upstream/listing/announcedChanges.ts';

describe('the list after an announced change', () => {
  it('waits for the debounce time, respects the maximum rate, and can be disabled', () => {
    let now = 0;
    let config = { enabled: true, debounceSeconds: 2, maxRefreshesPerMinute: 2 };
    const pace = new RefreshPace(
      () => config,
      () => now,
    );
    const refreshAt = (time: number): void => {
      now = time;
      pace.onRefresh();
    };
    expect(pace.delayMs()).toBe(2_000);
    refreshAt(1_000);
    expect(pace.delayMs()).toBe(2_000);
    refreshAt(10_000);
    // The third refresh within a minute waits until the first is a minute old.
    expect(pace.delayMs()).toBe(51_000);
    refreshAt(61_000);
    expect(pace.delayMs()).toBe(9_000);
    now = 80_000;
    expect(pace.delayMs()).toBe(2_000);
    config = { ...config, enabled: false };
    expect(pace.delayMs()).toBeUndefined();
  });
});
