import { describe, expect, it } from 'vitest';
import { LogLevels } from '../../src/modes/shared/client/logLevels.ts';

describe('log levels', () => {
  it('are separate for each session', () => {
    const levels = new LogLevels();
    const [terse, silent] = [{}, {}];
    levels.set(terse, 'warning');
    expect(['info', 'warning', 'alert'].map((level) => levels.admits(terse, level))).toEqual([false, true, true]);
    expect(levels.admits(silent, 'debug')).toBe(true);
    // The client has to judge unknown levels.
    expect(levels.admits(terse, 'shouting')).toBe(true);
    levels.forget(terse);
    expect(levels.admits(terse, 'debug')).toBe(true);
  });
});
