import { RE2JS } from 're2js';

/** Regular expression as ajv needs it. ajv caches patterns by `toString()`, so each needs its own. */
export interface PatternTest {
  test(text: string): boolean;
  toString(): string;
}

/** Longest repetition to check in place: `\p{L}{900}` takes 25 ms on 2,000 letters. */
const LIGHT_REPETITION = 64;

/** Returns a pattern that runs in linear time; undefined for syntax that RE2 lacks (look-around, back-references). */
export function linearPattern(source: string, flags: string): PatternTest | undefined {
  try {
    const engine = RE2JS.compile(RE2JS.translateRegExp(source));
    return { test: (text) => engine.test(text), toString: () => `/${source}/${flags}` };
  } catch {
    return undefined;
  }
}

/** Whether a pattern compiles in linear time and has no long repetition. */
export function isLightPattern(source: string): boolean {
  const repetitions = source.matchAll(/\{(\d+)(?:,(\d*))?\}/g);
  for (const [, low, high] of repetitions) {
    if (Math.max(Number(low), Number(high ?? 0)) > LIGHT_REPETITION) return false;
  }
  return linearPattern(source, '') !== undefined;
}

/** Engine for ajv's `code.regExp` in the event loop. A pattern that the linear engine lacks matches everything. */
export function linearEngine(source: string, flags: string): PatternTest {
  return linearPattern(source, flags) ?? { test: () => true, toString: () => `/${source}/${flags}` };
}
linearEngine.code = 'linearEngine';

/** Engine for a thread that can be killed. Patterns that the linear engine lacks run in the backtracking one. */
export function completeEngine(source: string, flags: string): PatternTest {
  return linearPattern(source, flags) ?? new RegExp(source, flags);
}
completeEngine.code = 'completeEngine';
