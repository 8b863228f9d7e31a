import { expect, it } from 'vitest';
import { moment, timeOfDay } from '../../src/text/timeOfDay.ts';

it('formats a time of day with 24 hours and two digits each', () => {
  const at = new Date(2026, 10, 20, 16, 4, 9).getTime();
  expect(timeOfDay(at)).toBe('16:04:09');
  expect(timeOfDay(at, false)).toBe('16:04');
});

it('names the day of a time that is not of today', () => {
  const at = new Date(2026, 10, 9, 23, 59, 59).getTime();
  expect(moment(at, at)).toBe('23:59:59');
  expect(moment(at, at + 1_000)).toBe('2026-11-09 23:59:59');
});
