import { RE2JS } from 're2js';

/** What ajv wants of an engine. It keys patterns by their `toString()`: without an own one all share the first. */
export interface PatternTest {
  test(text: string): boolean;
  toString(): string;
}

/** The longest repetition that is still checked in place: `\p{L}{900}` takes 25 ms on 2,000 letters. */
const LIGHT_REPETITION = 64;

/** A pattern that runs in linear time; undefined for what that engine does not know (look-around, back-references). */
export function linearPattern(source: string, flags: string): PatternTest | undefined {
  try {
    const engine = RE2JS.compile(RE2JS.translateRegExp(source));
    return { test: (text) => engine.test(text), toString: () => `/${source}/${flags}` };
  } catch {
    return undefined;
  }
}

/** Compiles in linear time and repeats nothing many times over. */
export function isLightPattern(source: string): boolean {
  const repetitions = source.matchAll(/\{(\d+)(?:,(\d*))?\}/g);
  for (const [, low, high] of repetitions) {
    if (Math.max(Number(low), Number(high ?? 0)) > LIGHT_REPETITION) return false;
  }
  return linearPattern(source, '') !== undefined;
}

/** For ajv's `code.regExp` where nothing may block: a pattern beyond the linear engine is not checked. */
export function linearEngine(source: string, flags: string): PatternTest {
  return linearPattern(source, flags) ?? { test: () => true, toString: () => `/${source}/${flags}` };
}
linearEngine.code = 'linearEngine';

/** For a thread that can be killed: what the linear engine does not know runs in the backtracking one. */
export function completeEngine(source: string, flags: string): PatternTest {
  return linearPattern(source, flags) ?? new RegExp(source, flags);
}
completeEngine.code = 'completeEngine';
