import { describe, expect, it } from 'vitest';
import { answerText, attemptsText, requestText } from '../../../src/extension/documents/callText.ts';
import { AT, details, RUNNING, TOOL } from '../activity/calls.ts';

describe('the documents of a call', () => {
  it('have the request as JSON, with hidden characters visible', () => {
    const text = requestText(details({ arguments: { tool_id: TOOL, args: { id: 'C-7\u202e' } } }));
    expect(text).not.toContain('\u202e');
    expect(JSON.parse(text)).toEqual({
      tool: 'tool_execute',
      client: 'claude-code',
      at: new Date(AT + 1).toISOString(),
      arguments: { tool_id: TOOL, args: { id: 'C-7\u202e' } },
    });
  });

  it.each([
    ['switched_off', /activity\.keepArguments is false/],
    ['space', /in memory only/],
    ['too_large', /too large/],
  ] as const)('say why arguments and answer are absent: %s', (dropped, words) => {
    expect(JSON.parse(requestText(details({ dropped })))).toMatchObject({ unavailable: expect.stringMatching(words) });
    expect(answerText(details({ dropped }))).toMatch(words);
  });

  it('have the answer as the model got it', () => {
    expect(answerText(details({ answer: 'ok · data from erp\n{}' }))).toBe('ok · data from erp\n{}');
    expect(answerText(details({ record: RUNNING }))).toMatch(/has not ended/);
  });

  it('list tries, stages and corrections', async () => {
    const text = attemptsText(
      details({
        attempts: [
          { at: AT, durationMs: 12, outcome: 'timeout' },
          { at: AT + 900, durationMs: 90.4, outcome: 'ok' },
        ],
        stages: [
          { stage: 'validate', durationMs: 0.41 },
          { stage: 'dispatch', durationMs: 1_204 },
        ],
        repairs: [{ path: '/id', rule: '```\nnumber_as_text' }],
      }),
    );
    await expect(text).toMatchFileSnapshot('golden/attempts.txt');
    expect(attemptsText(details())).toMatch(/The server was not called\./);
  });
});
