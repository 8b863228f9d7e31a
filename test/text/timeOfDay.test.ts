import { expect, it } from 'vitest';
import { timeOfDay } from '../../src/text/timeOfDay.ts';

it('formats a time of day with 24 hours and two digits each', () => {
  const at = new Date(2026, 10, 20, 16, 4, 9).getTime();
  expect(timeOfDay(at)).toBe('16:04:09');
  expect(timeOfDay(at, false)).toBe('16:04');
});
