import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Oddities } from '../../src/mcp/wire/oddities.ts';
import { UnaskedAllowance } from '../../src/mcp/wire/unaskedAllowance.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('protocol violations', () => {
  it('are counted by kind, as plain data', () => {
    const oddities = new Oddities();
    oddities.add('garbage_line');
    oddities.add('garbage_line', 4);
    oddities.add('late_response');
    expect(JSON.parse(JSON.stringify(oddities))).toEqual({ garbage_line: 5, late_response: 1 });
    expect(oddities.count('null_id')).toBe(0);
  });

  it('are reported by kind with a name, the most frequent first, equal ones by kind', () => {
    const oddities = new Oddities();
    expect(oddities.report()).toEqual([]);
    oddities.add('late_response', 2);
    oddities.add('garbage_line', 5);
    oddities.add('batch', 2);
    expect(oddities.report()).toEqual([
      { kind: 'garbage_line', count: 5, words: 'lines on stdout that are not messages' },
      { kind: 'batch', count: 2, words: 'messages in a batch, which its version of MCP does not have' },
      { kind: 'late_response', count: 2, words: 'answers to requests that were given up' },
    ]);
  });

  it('beyond a hundred within ten seconds are reported once, and again in a later window', () => {
    const reports: string[] = [];
    const oddities = new Oddities((oddity) => void reports.push(oddity));
    for (let i = 0; i < 100; i++) oddities.add('unknown_response');
    expect(reports).toEqual([]);
    for (let i = 0; i < 100; i++) oddities.add('unknown_response');
    expect(reports).toEqual(['unknown_response']);
    vi.advanceTimersByTime(10_001);
    oddities.add('unknown_response', 101);
    expect(reports).toEqual(['unknown_response', 'unknown_response']);
  });

  it('that come slowly are never excessive', () => {
    const reports: string[] = [];
    const oddities = new Oddities((oddity) => void reports.push(oddity));
    for (let i = 0; i < 1_000; i++) {
      oddities.add('garbage_line');
      vi.advanceTimersByTime(200);
    }
    expect(reports).toEqual([]);
  });
});

describe('the allowance for unrequested input', () => {
  it('is a burst, and then a rate per second', () => {
    const allowance = new UnaskedAllowance();
    for (let i = 0; i < 16_384; i++) allowance.spend(10, 'message');
    expect(allowance.waitMs).toBe(0);
    for (let i = 0; i < 4_096; i++) allowance.spend(10, 'message');
    expect(allowance.waitMs).toBe(1_000);
    vi.advanceTimersByTime(600);
    expect(allowance.waitMs).toBe(400);
    vi.advanceTimersByTime(400);
    expect(allowance.waitMs).toBe(0);
  });

  it('is spent by size, with a minimum for a message, a smaller one for garbage and a larger one for a question', () => {
    const [messages, garbage, questions] = [new UnaskedAllowance(), new UnaskedAllowance(), new UnaskedAllowance()];
    messages.spend(3 * 1024 * 1024, 'message');
    for (let i = 0; i < 30_000; i++) garbage.spend(10, 'garbage');
    for (let i = 0; i < 1_536; i++) questions.spend(10, 'question');
    expect(messages.waitMs).toBe(2_000);
    expect(garbage.waitMs).toBe(0);
    expect(questions.waitMs).toBe(2_000);
  });
});
