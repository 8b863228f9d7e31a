import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countTokens } from '../../../src/catalog/tokenizer/tokens.ts';
import { parseCommandLine } from '../../../src/cli/commandLine.ts';
import { renderConversation } from '../../../src/records/session/conversation.ts';
import { packContext } from '../../../src/records/session/packedContext.ts';
import { readSession } from '../../../src/records/session/sessionFile.ts';

const folder = mkdtempSync(join(tmpdir(), 'session-'));
const files: string[] = [];

/** Writes lines as a session file; strings stay as they are. */
function file(...lines: (object | string)[]): string {
  const path = join(folder, `${files.length}.jsonl`);
  files.push(path);
  writeFileSync(path, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
  return path;
}

const invoices = Array.from({ length: 400 }, (_, n) => ({ id: `INV-${n}`, status: n % 3 ? 'paid' : 'open' }));
const SESSION = [
  { id: 'u1', type: 'user_turn', text: 'Search for open invoices' },
  { id: 'tc1', type: 'tool_call', text: "invoices.search(status='open')", parent_id: 'u1' },
  { id: 'tr1', type: 'tool_result', content: JSON.stringify(invoices), parent_id: 'tc1' },
  { id: 'a1', type: 'agent_msg', text: '134 invoices are open.', parent_id: 'u1' },
  { id: 'u2', type: 'user_turn', text: 'What is the weather in Oslo?' },
  { id: 'tc2', type: 'tool_call', text: "getForecast(city='Oslo')", parent_id: 'u2' },
  { id: 'tr2', type: 'tool_result', content: [{ type: 'text', text: 'Rain, 4 degrees.' }], parent_id: 'tc2' },
];

describe('reading a session', () => {
  it('takes text, content as text, as parts of a result and as data, and skips and reports other lines', async () => {
    const { items, skipped } = await readSession(
      file(
        '\ufeff{"id":"u1","type":"user_turn","text":"hello"}',
        'no json',
        '',
        { id: 'x', type: 'tool_result' },
        { id: 7, type: 'user_turn', text: 'a number as id' },
        { id: 'r1', type: 'tool_result', content: 'plain', parent_id: 'u1' },
        {
          id: 'r2',
          type: 'tool_result',
          content: [
            { type: 'text', text: 'part' },
            { type: 'image', data: 'aGk=', mimeType: 'image/png' },
          ],
        },
        {
          id: 'r3',
          type: 'tool_result',
          content: { content: [{ type: 'text', text: 'whole result' }], isError: false },
        },
        { id: 'r4', type: 'tool_result', content: { rows: 3 } },
      ),
    );
    expect(items.map(({ id, parentId, text }) => [id, parentId, text.toString()])).toEqual([
      ['u1', undefined, 'hello'],
      ['r1', 'u1', 'plain'],
      ['r2', undefined, 'part\n[image, image/png]'],
      ['r3', undefined, 'whole result'],
      ['r4', undefined, '{\n  "rows": 3\n}'],
    ]);
    expect(skipped).toEqual([2, 4, 5]);
  });

  it('refuses a file that is none, or has no item, in one sentence', async () => {
    mkdirSync(join(folder, 'sub'));
    await expect(readSession(join(folder, 'absent.jsonl'))).rejects.toThrow(/absent\.jsonl does not exist\.$/);
    await expect(readSession(join(folder, 'sub'))).rejects.toThrow(/is no regular file\.$/);
    await expect(readSession('/dev/zero')).rejects.toThrow('/dev/zero is no regular file.');
    await expect(readSession(file('{"a":1}', 'x'))).rejects.toThrow(
      /is no session: no line is a JSON object with "id"/,
    );
  });
});

describe('a conversation', () => {
  it('shows items in order with links to their parents, and long results as digests', async () => {
    const text = await renderConversation(await readSession(file(...SESSION, 'broken')));
    expect(text).toContain('1 line skipped, because they are no items of a session: 8');
    expect(text).toContain('### user_turn u1\n\n```text\nSearch for open invoices\n```');
    expect(text).toContain('### tool_call tc1 ← [u1](#user_turn-u1)');
    expect(text).toContain('### tool_result tr1 ← [tc1](#tool_call-tc1)\n\nJSON, ');
    expect(text).toContain('array of 400 objects');
    expect(text).not.toContain('INV-399');
    expect(text.length).toBeLessThan(4_000);
    expect(text.indexOf('tr1')).toBeLessThan(text.indexOf('### agent_msg a1'));
  });

  it('lets no id, type or text write markup, close a fence, hide characters or show a secret', async () => {
    const text = await renderConversation(
      await readSession(
        file({
          id: '[x](command:evil)',
          type: '# type <b>',
          text: '```\n[out](command:evil)\n\u202etxt password: hunter2hunter2 ghp_abcdefghijklmnopqrstuvwxyz0123456789',
          parent_id: 'gone',
        }),
      ),
    );
    expect(text).toContain('### \\# type \\<b\\> \\[x\\]\\(command:evil\\) ← gone (missing)');
    expect(text).toContain('````text\n```\n');
    expect(text).toContain('\\u202e');
    expect(text).not.toContain('ghp_abcdefghijklmnopqrstuvwxyz0123456789');
  });

  it('ends with parents in a circle', async () => {
    const session = await readSession(
      file({ id: 'a', type: 't', text: 'alpha', parent_id: 'b' }, { id: 'b', type: 't', text: 'beta', parent_id: 'a' }),
    );
    expect(await renderConversation(session)).toContain('← [b](#t-b)');
    expect((await packContext(session, 'alpha', 500)).included).toEqual(['a', 'b']);
  });
});

describe('a packed context', () => {
  it('has what the question is about with the items that it answers, in order', async () => {
    const packed = await packContext(await readSession(file(...SESSION)), 'which invoices are open', 1_500);
    expect(packed.included).toEqual(['u1', 'tc1', 'tr1', 'a1']);
    expect(packed.isMatch).toBe(true);
    expect(packed.text).not.toContain('Oslo');
  });

  it('matches words inside of names, and in the singular', async () => {
    const session = await readSession(file(...SESSION));
    expect((await packContext(session, 'forecasts', 500)).included).toEqual(['u2', 'tc2']);
  });

  it('takes the newest items where no word of the question matches', async () => {
    const packed = await packContext(await readSession(file(...SESSION)), 'kubernetes', 200);
    expect(packed.isMatch).toBe(false);
    expect(packed.included).toEqual(expect.arrayContaining(['u2', 'tc2', 'tr2']));
  });

  it('shortens, then leaves out and names what the budget has no room for', async () => {
    const session = await readSession(file(...SESSION));
    const short = await packContext(session, 'open invoices', 320);
    expect(short.included).toContain('tr1');
    const least = await packContext(session, 'open invoices', 80);
    expect(least.included).not.toContain('tr1');
    expect(least.omitted).toContain('tr1');
  });

  it('never exceeds its budget, keeps the order, and never has an item without its parents', async () => {
    const items = fc.array(
      fc.record({
        words: fc.array(fc.constantFrom('alpha', 'beta', 'gamma', 'delta'), { maxLength: 400 }),
        parent: fc.nat(),
      }),
      { minLength: 1, maxLength: 20 },
    );
    await fc.assert(
      fc.asyncProperty(items, fc.integer({ min: 1, max: 3_000 }), async (list, budget) => {
        const lines = list.map(({ words, parent }, at) => ({
          id: `i${at}`,
          type: 'tool_result',
          text: words.join(' '),
          ...(at > 0 && { parent_id: `i${parent % at}` }),
        }));
        const packed = await packContext(await readSession(file(...lines)), 'alpha delta', budget);
        expect(packed.tokens).toBeLessThanOrEqual(budget);
        expect(countTokens(packed.text)).toBeLessThanOrEqual(packed.tokens);
        const order = packed.included.map((id) => Number(id.slice(1)));
        expect(order).toEqual([...order].sort((a, b) => a - b));
        for (const at of order) if (at > 0) expect(packed.included).toContain(lines[at]?.parent_id);
      }),
      { numRuns: 60 },
    );
  });
});

describe('waygate session', () => {
  const parsed = (...args: string[]): unknown => parseCommandLine(['session', ...args], () => undefined);

  it('takes one file, and a question with a budget or an item', () => {
    expect(parsed('/a.jsonl')).toEqual({
      name: 'session',
      json: false,
      file: '/a.jsonl',
      question: undefined,
      budget: 4_000,
      item: undefined,
    });
    expect(parsed('/a.jsonl', '--query', 'open', '--budget', '90')).toMatchObject({ question: 'open', budget: 90 });
    expect(parsed('/a.jsonl', '--item', 'tr1')).toMatchObject({ item: 'tr1' });
  });

  it.each([
    [[], 'waygate session needs a file'],
    [['/a', '/b'], 'takes one file'],
    [['/a', '--budget', '10'], '--budget needs --query'],
    [['/a', '--query', 'x', '--budget', 'many'], 'needs a number of tokens'],
    [['/a', '--query', 'x', '--item', 'y'], '--query or --item, not both'],
  ])('refuses %j in one sentence', (args, words) => {
    expect(() => parsed(...args)).toThrow(words);
  });
});
