import { describe, expect, it } from 'vitest';
import { answerTo, readQuestion, splitQuestion } from '../../../src/host/modern/heldCall.ts';

const FORM = { method: 'elicitation/create', params: { message: 'Who?' } };
const ROOTS = { method: 'roots/list', params: {} };
const SAMPLE = { method: 'sampling/createMessage', params: { messages: [] } };
const round = (requests: object) => readQuestion('worker:7', 'waygate/questions', { requests });

describe('the questions of a round', () => {
  it('go to the client, but for roots that it does not have', () => {
    const question = round({ who: FORM, where: ROOTS });
    expect(splitQuestion(question, { elicitation: {}, roots: {} })).toEqual({
      asked: { who: FORM, where: ROOTS },
      own: {},
    });
    const { asked, own } = splitQuestion(question, { elicitation: {} });
    expect(asked).toEqual({ who: FORM });
    expect(answerTo(question, { ...own, who: { action: 'decline' } })).toEqual({
      id: 'worker:7',
      result: { responses: { who: { action: 'decline' }, where: { roots: [] } } },
    });
  });

  it('are refused with the first that the client cannot be asked, under its method', () => {
    const { refusal } = splitQuestion(round({ what: SAMPLE, who: FORM }), {});
    expect(refusal).toEqual({
      error: {
        code: -32601,
        message: 'The client of this call does not support sampling.',
        data: { method: 'sampling/createMessage' },
      },
      missing: { sampling: {} },
    });
  });

  it('are the same for another worker, whatever ids they have', () => {
    const visit = (elicitationId: string) => ({ ...FORM, params: { ...FORM.params, mode: 'url', elicitationId } });
    const again = readQuestion('other:1', 'waygate/questions', { requests: { who: visit('b') } });
    expect(again.digest).toBe(round({ who: visit('a') }).digest);
    expect(again.worker).not.toBe('worker:');
    expect(round({ whom: visit('a') }).digest).not.toBe(again.digest);
  });
});
