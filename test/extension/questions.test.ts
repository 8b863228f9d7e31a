import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ApprovalQuestion } from '../../src/control/contract.ts';
import { QuestionQueue } from '../../src/extension/questions/questionQueue.ts';
import {
  answerChoices,
  argumentsText,
  lateMessage,
  reviewTitle,
  waitingTitle,
} from '../../src/extension/questions/questionText.ts';

const question = (over: Partial<ApprovalQuestion> = {}): ApprovalQuestion => ({
  id: 'q1',
  toolId: 'erp:customer_delete#12345678',
  server: 'erp',
  client: 'claude-code',
  reason: 'Its server declares it destructive.',
  arguments: { id: 7 },
  lines: [],
  ...over,
});

describe('queue of questions', () => {
  let late: ApprovalQuestion[];
  let queue: QuestionQueue;
  const asked = (over: Partial<ApprovalQuestion> = {}) => {
    const client = new AbortController();
    const answer = queue.ask(question(over), { name: 'waygate' }, client.signal);
    return { client, answer, id: queue.open.value.at(-1)?.id ?? '' };
  };

  beforeEach(() => {
    vi.useFakeTimers();
    late = [];
    queue = new QuestionQueue((one) => late.push(one));
  });
  afterEach(() => vi.useRealTimers());

  it('keeps questions in the order in which they came, until each is answered', async () => {
    const first = asked();
    const second = asked({ toolId: 'erp:drop#12345678' });
    expect(queue.open.value.map(({ id }) => id)).toEqual([first.id, second.id]);
    queue.answer(first.id, 'once');
    expect(await first.answer).toBe('once');
    expect(queue.open.value.map(({ id }) => id)).toEqual([second.id]);
    queue.answer(second.id, 'denied');
    expect(await second.answer).toBe('denied');
  });

  it('drops a question whose client has gone, and an answer to it has no effect', async () => {
    const { client, answer, id } = asked();
    client.abort();
    expect(queue.open.value).toEqual([]);
    queue.answer(id, 'workspace');
    expect(await answer).toBe('unavailable');
    expect(late).toEqual([]);
    expect(await queue.ask(question(), { name: 'waygate' }, AbortSignal.abort())).toBe('unavailable');
  });

  it('denies at the deadline and reports it, whichever end notices it first', async () => {
    const deadline = Date.now() + 60_000;
    const here = asked({ deadline });
    const there = asked({ deadline });
    vi.advanceTimersByTime(59_900);
    expect(queue.open.value).toHaveLength(2);
    there.client.abort();
    vi.advanceTimersByTime(200);
    expect(await Promise.all([here.answer, there.answer])).toEqual(['denied', 'denied']);
    expect(late).toHaveLength(2);
  });

  it('answers nothing when the window closes', async () => {
    const { answer } = asked();
    queue.dispose();
    expect(await answer).toBe('unavailable');
  });
});

describe('words of a question', () => {
  it('name the tool, the server and the client', () => {
    expect(waitingTitle(question())).toBe('customer_delete of erp waits for you.');
    expect(reviewTitle(question(), 1, 3)).toBe('1 of 3: may customer_delete of erp run, for claude-code?');
    expect(lateMessage(question())).toBe('customer_delete of erp did not run: nobody answered the question in time.');
  });

  it('contain no link of a server or a client', () => {
    const link = '[Review…](command:workbench.action.terminal.new)';
    const named = question({ toolId: `erp:${link}#12345678`, server: link, client: link });
    for (const text of [waitingTitle(named), reviewTitle(named, 1, 1), lateMessage(named)]) {
      expect(text).not.toMatch(/[[\]]|command:/);
    }
    expect(waitingTitle(question({ toolId: '](', server: '$(x)' }))).toBe('A tool of x waits for you.');
  });

  it('begin with the answer that runs nothing, and name the time of the deadline', () => {
    const choices = answerChoices(question({ deadline: 5 }), (at) => `12:04:${at}`);
    expect(choices.map(({ label, verdict }) => [label, verdict])).toEqual([
      ['Deny', 'denied'],
      ['Allow Once', 'once'],
      ['Allow in This Session', 'session'],
      ['Always Allow Here', 'workspace'],
    ]);
    expect(choices[0]?.detail).toBe('The call does not run. Without an answer, it is denied at 12:04:5.');
    for (const { detail } of choices) expect(detail).not.toBe('');
  });

  it('about a refused call say when it was refused, and that an answer is for the next one', () => {
    const refused = question({ refusedAt: 7 });
    expect(waitingTitle(refused)).toBe('customer_delete of erp did not run, because nobody could be asked.');
    const choices = answerChoices(refused, (at) => `12:04:0${at}`);
    expect(choices.map(({ label, verdict }) => [label, verdict])).toEqual([
      ['Deny', 'denied'],
      ['Allow Once', 'once'],
      ['Always Allow Here', 'workspace'],
    ]);
    expect(choices[0]?.detail).toBe('The call was refused at 12:04:07, and the next one asks again.');
    expect(choices[1]?.detail).toMatch(/^Runs the next call of erp:customer_delete#12345678 by this client/);
  });

  it('show the whole arguments with hidden characters visible', () => {
    const text = argumentsText(question({ arguments: { path: 'a\u202eb', body: 'x'.repeat(9_000) } }));
    expect(text).toContain('"path": "a\\u202eb"');
    expect(JSON.parse(text)).toEqual({ path: 'a\u202eb', body: 'x'.repeat(9_000) });
  });
});
