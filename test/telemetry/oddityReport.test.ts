import { describe, expect, it } from 'vitest';
import { Oddities } from '../../src/mcp/wire/oddities.ts';
import { oddityReport } from '../../src/telemetry/oddityReport.ts';

describe('the report of what is odd in a server', () => {
  it('has each kind with its words, the most frequent first, equals by name', () => {
    const oddities = new Oddities();
    expect(oddityReport(oddities)).toEqual([]);
    oddities.add('late_response', 2);
    oddities.add('garbage_line', 5);
    oddities.add('batch', 2);
    expect(oddityReport(oddities)).toEqual([
      { kind: 'garbage_line', count: 5, words: 'lines on stdout that are no messages' },
      { kind: 'batch', count: 2, words: 'messages in a batch, which its version of MCP does not have' },
      { kind: 'late_response', count: 2, words: 'answers to requests that were given up' },
    ]);
  });
});
