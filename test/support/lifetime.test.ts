import { afterAll, describe, expect, it } from 'vitest';
import { atEnd, shared } from './lifetime.ts';

const events: string[] = [];

afterAll(() => {
  const [opened, ...rest] = events;
  expect(opened).toBe('open');
  expect(rest.slice(-2)).toEqual(['dispose the second', 'dispose the first']);
  expect(rest.filter((event) => event === 'end of a test')).toHaveLength(rest.length - 2);
});

describe('something that tests share', () => {
  const value = shared(() => {
    events.push('open');
    for (const what of ['first', 'second']) atEnd(() => events.push(`dispose the ${what}`));
    return { open: true };
  });

  it.each(['one', 'another'])('is open in %s test, which disposes only of its own', () => {
    atEnd(() => events.push('end of a test'));
    expect(value()).toEqual({ open: true });
    expect(events).not.toContain('dispose the first');
  });
});
