import { expect, it } from 'vitest';
import { shared } from '../../support/lifetime.ts';
import { makeHistory, writeHistory } from '../../support/recordHistory.ts';
import { thirtyQuestions } from './questions.ts';
import { ALL_OF, recordWorld } from './world.ts';

const NOW = Date.now();
const made = makeHistory(NOW);
const questions = thirtyQuestions(NOW);

const world = shared(async () => {
  const opened = recordWorld();
  writeHistory(made, { stateFolder: opened.options.stateFolder, home: opened.home });
  opened.grant([ALL_OF('history', { kind: 'history' }), ALL_OF('agents', { kind: 'agents' })]);
  await opened.provider.refresh();
  return opened;
});

it('the history has ten thousand calls, and there are thirty questions', () => {
  expect(made.calls).toHaveLength(10_000);
  expect(new Set(questions.map(({ question }) => question)).size).toBe(30);
});

it.each(questions.map((one) => [one.question, one] as const))('%s', async (_, { answer, expected }) => {
  const truth = expected(made);
  // A question without an answer would prove nothing.
  expect([undefined, 0, '[]', '{}']).not.toContain(typeof truth === 'object' ? JSON.stringify(truth) : truth);
  const answered = await answer(async (target) => {
    const { status, body } = await world().get(target);
    expect(status, JSON.stringify(body)).toBe(200);
    return body;
  });
  expect(answered).toEqual(truth);
});
