import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { shared } from '../../support/lifetime.ts';
import { makeHistory, writeHistory } from '../../support/recordHistory.ts';
import { thirtyQuestions } from './questions.ts';
import { type Expense, ToolReader, toolCall } from './throughTools.ts';
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

/** Most tokens where the documentation has so many. Ids and times, and a further month or week, make less than that. */
const most = (tokens: number): number => tokens * 1.1 + 20;
const ROW = /^\| (.+\S) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$/gm;

/** Table of the documentation: what the answers to each question may take. */
const documented = new Map<string, Expense>(
  [...readFileSync('docs/reference/records-embedded.md', 'utf8').matchAll(ROW)].map(([, question = '', ...cells]) => {
    const [calls = 0, text = 0, structured = 0] = cells.map((cell) => Number(cell.replaceAll(',', '')));
    return [question, { calls, text, structured }];
  }),
);

function expectWithin(title: string, { calls, text, structured }: Expense): void {
  const row = `| ${title} | ${calls} | ${text} | ${structured} |`;
  const known = documented.get(title);
  if (!known) throw new Error(`The documentation has no row "${row}".`);
  expect(calls, row).toBe(known.calls);
  expect(text, row).toBeLessThanOrEqual(most(known.text));
  // Where a text was enough, it has to stay so.
  expect(structured, row).toBeLessThanOrEqual(known.structured === 0 ? 0 : most(known.structured));
}

it('the history has ten thousand calls, and there are thirty questions', () => {
  expect(made.calls).toHaveLength(10_000);
  expect(new Set(questions.map(({ question }) => question)).size).toBe(30);
});

it('the documentation has their sum', () => {
  const sum: Expense = { calls: 0, text: 0, structured: 0 };
  for (const { question } of questions) {
    const row = documented.get(question);
    for (const key of ['calls', 'text', 'structured'] as const) sum[key] += row?.[key] ?? 0;
  }
  expect(documented.get('thirty questions')).toEqual(sum);
});

describe('through the five tools', () => {
  it.each(questions.map((one) => [one.question, one] as const))('%s', async (question, { answer, expected }) => {
    const truth = expected(made);
    // A question without an answer would prove nothing.
    expect([undefined, 0, '[]', '{}']).not.toContain(typeof truth === 'object' ? JSON.stringify(truth) : truth);
    const reader = new ToolReader(world().provider);
    expect(await answer(reader.ask)).toEqual(truth);
    expectWithin(question, reader.expense);
  });

  it('the tool schema names every stream and field that the questions use', async () => {
    const used = new Map<string, Set<string>>();
    const asking = new ToolReader(world().provider);
    for (const { answer } of questions) {
      await answer((target) => {
        const { name, args } = toolCall(target);
        const given = args as Record<string, string | object>;
        const streams = name === 'fetch' ? [String(given.id).split(':')[0]] : (given.streams ?? [given.stream]);
        const fields = [given.field, given.group_by, given.group_by_time, given.fields ?? []].flat();
        for (const stream of streams as string[]) {
          const known = used.get(stream) ?? used.set(stream, new Set()).get(stream);
          for (const field of [...fields, ...Object.keys(given.filter ?? {})]) if (field) known?.add(String(field));
        }
        return asking.ask(target);
      });
    }
    const reader = new ToolReader(world().provider);
    const index = await reader.call({ name: 'schema', args: {} });
    for (const [stream, fields] of used) {
      expect(index.content[0]?.text).toContain(stream);
      const scoped = await reader.call({ name: 'schema', args: { stream } });
      for (const field of fields) expect(scoped.content[0]?.text).toMatch(new RegExp(`\\b${field}\\b`));
    }
    expectWithin('`schema`, and `schema(stream)` for each stream', reader.expense);
  });
});
