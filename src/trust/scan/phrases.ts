import { once } from '../../lib/once.ts';
import type { ScanRule, Tier } from './finding.ts';

/** Phrase of a rule. Patterns read folded text, in which a line is a sentence. */
export interface Phrase {
  readonly rule: ScanRule;
  readonly tier: Tier;
  readonly pattern: RegExp;
  /** Words directly before a match that make it harmless. Apart from the pattern, which is faster without them. */
  readonly unless?: RegExp;
}

/**
 * Reads patterns: a line for each, its rule and tier first. `{NAME}` is one of `words`, and `~30` stands for at most
 * 30 characters of the same sentence. The bound keeps a pattern linear.
 */
export function phrases(words: Readonly<Record<string, string>>, lines: string, unless?: RegExp): Phrase[] {
  return lines
    .trim()
    .split('\n')
    .map((line) => {
      const [rule, tier] = line.split(' ', 2) as [ScanRule, Tier];
      const pattern = once(() => patternOf(line.slice('D1 hard '.length), words));
      return {
        rule,
        tier,
        get pattern() {
          return pattern();
        },
        ...(unless && { unless }),
      };
    });
}

function patternOf(source: string, words: Readonly<Record<string, string>>): RegExp {
  const whole = source
    .replace(/\{([A-Z_]+)\}/g, (_, name: string) => words[name] as string)
    .replace(/~(\d+)/g, '[^\\n]{0,$1}?');
  return new RegExp(whole, 'g');
}
