import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FromTry, ToTry, TriedTool } from '../../src/control/tryMessages.ts';
import { sampleListings } from '../catalog/sampleListings.ts';
import { oddSchemas } from '../fixtures/catalog/oddSchemas.ts';
import schemaForms from '../fixtures/catalog/schemaForms.json' with { type: 'json' };
import { BROWSER, launchBrowser, type OpenedPage, openPage, type PageFiles, pageFiles } from '../support/webPages.ts';
import { axeInThemes } from './themes.ts';

const ORIGIN = 'http://try.test';
const MAX_PAGE_KB = 40;

const TOOL: TriedTool = {
  folder: 'waygate',
  toolId: 'erp:customer_delete#0123abcd',
  name: 'customer_delete',
  title: 'Delete a customer',
  description: 'Deletes a customer and its orders.',
  server: 'erp',
  safety: 'destructive',
  schema: {
    type: 'object',
    required: ['id', 'reason'],
    properties: {
      id: { type: 'integer', minimum: 1, maximum: 99, description: 'Number of the customer' },
      reason: { enum: ['left', 'double'] },
      'Date<b>Sent</b>>': { type: 'string', format: 'date', default: '2026-01-01' },
      notes: { type: 'array', items: { type: 'string' } },
      api_key: { type: 'string' },
      limit: { type: ['integer', 'null'] },
      owner: { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer' } }, required: ['name'] },
      any: {},
      country: { enum: Array.from({ length: 150 }, (_, index) => `country ${index}`) },
    },
  },
};
const READ: TriedTool = { ...TOOL, toolId: 'erp:customer_get#0123abcd', name: 'customer_get', safety: 'read_only' };

let browser: Browser;
let files: PageFiles;
let page: Page;
let opened: OpenedPage<FromTry>;

/** Opens the page. `state` is what the editor has kept. */
async function open(state?: unknown): Promise<void> {
  opened = await openPage(browser, ORIGIN, files, state);
  page = opened.page;
}

const said = (): Promise<FromTry[]> => opened.said();
const kept = (): Promise<unknown> => page.evaluate('window.kept');
const post = (message: ToTry): Promise<unknown> => opened.post(message);
const show = (tool: TriedTool): Promise<unknown> => post({ type: 'tool', json: JSON.stringify(tool) });
const fill = (args: unknown): Promise<unknown> => post({ type: 'arguments', json: JSON.stringify(args) });

/** Waits for the next message of a type, and returns it. */
async function next<T extends FromTry['type']>(type: T, after: number): Promise<Extract<FromTry, { type: T }>> {
  await page.waitForFunction(
    ([wanted, from]) =>
      (globalThis as unknown as { said: FromTry[] }).said.slice(from as number).some((one) => one.type === wanted),
    [type, after] as const,
  );
  const found = (await said()).slice(after).findLast((message) => message.type === type);
  return found as Extract<FromTry, { type: T }>;
}

/**
 * Runs an action and returns the arguments that the page has checked last. A slow machine lets the page check between two
 * steps of an action, so the check must be of the form as it is afterwards.
 */
async function checkedAfter(action: () => Promise<unknown>): Promise<{ check: number; args: unknown }> {
  const before = (await said()).length;
  await action();
  await next('check', before);
  const changes = () => page.evaluate('Number(document.documentElement.dataset.check)');
  const last = async () =>
    (await said()).findLast(({ type }) => type === 'check') as Extract<FromTry, { type: 'check' }>;
  await expect.poll(async () => (await last()).check, { timeout: 60_000 }).toBe(await changes());
  const { check, json } = await last();
  return { check, args: JSON.parse(json) };
}

async function judgeInvalid(check: number, ...problems: { path: string[]; message: string }[]): Promise<void> {
  await post({ type: 'verdict', check, verdict: { kind: 'invalid', problems, more: 0 } });
}

const field = (name: string) => page.getByLabel(name, { exact: true });

describe.skipIf(BROWSER === undefined)('Try Tool in a browser', () => {
  beforeAll(async () => {
    files = await pageFiles('try', ORIGIN);
    const [script = '', style = ''] = [files['/p.js']?.body, files['/p.css']?.body];
    expect(script).not.toBe('');
    expect((script.length + style.length) / 1_024).toBeLessThan(MAX_PAGE_KB);
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(() => open());
  afterEach(async () => {
    await page.close();
    expect(opened.violations).toEqual([]);
  });

  it('shows required fields first and folds the others, with names as text', async () => {
    expect(await said()).toEqual([{ type: 'ready' }]);
    await show(TOOL);
    expect(await page.locator('h1').textContent()).toBe('customer_delete');
    expect(await page.locator('#place').textContent()).toBe('erp · Delete a customer · declared destructive');
    expect(await page.locator('summary').textContent()).toBe('More (7)');
    expect(await field('Date<b>Sent</b>>').isVisible()).toBe(false);
    await page.locator('summary').click();
    const labels = await page.locator('label:visible, legend span.label > span:first-child').allTextContents();
    expect(labels.slice(0, 4)).toEqual(['id', 'reason', 'Date<b>Sent</b>>', 'notes']);
    expect(await field('Date<b>Sent</b>>').getAttribute('placeholder')).toBe('default: 2026-01-01');
    expect(await page.locator('.type').first().textContent()).toBe('whole number, 1 to 99');
    expect(await page.locator('datalist option').count()).toBe(150);
    expect(await page.locator('input[type=password]').count()).toBe(1);
  });

  it('sends what was entered and leaves out the rest', async () => {
    await show(TOOL);
    await page.locator('summary').click();
    const { args } = await checkedAfter(async () => {
      await field('id').fill('7');
      await field('reason').selectOption('double');
      await page.getByRole('button', { name: 'Add an item to notes' }).click();
      await page.keyboard.type('first');
      await page.getByRole('button', { name: 'Add an item to notes' }).click();
      await page.keyboard.type('second');
      await page.getByRole('button', { name: 'Remove item 1 of notes' }).click();
      await page
        .locator('.field')
        .filter({ has: field('limit') })
        .last()
        .getByRole('button', { name: 'null' })
        .click();
      await field('name').fill('Ada');
      await field('any').fill('{"deep": [1, null]}');
      await field('country').fill('country 7');
    });
    expect(args).toEqual({
      id: 7,
      reason: 'double',
      notes: ['second'],
      limit: null,
      owner: { name: 'Ada' },
      any: { deep: [1, null] },
      country: 'country 7',
    });
    const cleared = await checkedAfter(() => field('country').fill(''));
    expect(cleared.args).not.toHaveProperty('country');
  });

  it('does not run while a text is no value, and never sends an earlier value instead', async () => {
    await show(READ);
    await page.locator('summary').click();
    await checkedAfter(() => field('any').fill('[1]'));
    await field('any').fill('[1');
    expect(await page.locator('#run').getAttribute('aria-disabled')).toBe('true');
    expect(await field('any').getAttribute('aria-invalid')).toBe('true');
    const before = await said();
    await page.locator('#run').click({ force: true });
    await page.getByRole('button', { name: 'Copy as Call' }).click();
    await page.keyboard.press('Control+Enter');
    expect(await said()).toEqual(before);
    const problem = await page.locator('#problems button').textContent();
    expect(problem).toContain('This is no JSON');
    const { args } = await checkedAfter(() => field('any').fill('[1, 2]'));
    expect(args).toEqual({ any: [1, 2] });
    expect(await page.locator('#problems').isVisible()).toBe(false);
    expect(await page.locator('#run').getAttribute('aria-disabled')).toBe('false');
  });

  it('shows a problem at its field after the user has left it, and all of them after an attempt to run', async () => {
    await show(READ);
    const { check } = await checkedAfter(() => field('id').fill('700'));
    const missing = { path: ['reason'], message: '"reason" is missing' };
    await judgeInvalid(check, { path: ['id'], message: 'id must be at most 99' }, missing);
    expect(await page.locator('#status').textContent()).toBe('2 more to fill in or correct');
    expect(await page.locator('#problems').isVisible()).toBe(false);
    await page.keyboard.press('Tab');
    const described = async (name: string) => {
      const ids = ((await field(name).getAttribute('aria-describedby')) ?? '').split(' ');
      return (await Promise.all(ids.map((id) => page.locator(`[id="${id}"]`).textContent()))).join('|');
    };
    expect(await described('id')).toBe('Number of the customer|id must be at most 99');
    expect(await field('id').getAttribute('aria-invalid')).toBe('true');
    expect(await field('reason').getAttribute('aria-invalid')).toBeNull();
    await page.locator('#run').click();
    expect(await page.evaluate('document.activeElement.id')).toBe('problems');
    expect(await page.locator('#problems .title').textContent()).toBe('2 problems');
    await page.getByRole('button', { name: '"reason" is missing' }).click();
    expect(await page.evaluate('document.activeElement.tagName')).toBe('SELECT');
    expect(await field('reason').getAttribute('aria-invalid')).toBe('true');
    expect((await said()).some(({ type }) => type === 'run')).toBe(false);
  });

  it('ignores a verdict about arguments that have changed since', async () => {
    await show(READ);
    const { check } = await checkedAfter(() => field('id').fill('700'));
    await field('id').fill('70');
    await page.keyboard.press('Tab');
    await judgeInvalid(check, { path: ['id'], message: 'id must be at most 99' });
    expect(await page.locator('#problems').isVisible()).toBe(false);
  });

  it('finds the field of a problem in lists and objects, or the nearest one above', async () => {
    await show(READ);
    const { check } = await checkedAfter(() =>
      fill({ notes: ['a', 'b'], owner: { name: 'Ada', age: 1 }, any: { x: 1 } }),
    );
    await page.locator('#run').click();
    await judgeInvalid(
      check,
      { path: ['notes', '1'], message: 'second note' },
      { path: ['owner', 'age'], message: 'age of the owner' },
      { path: ['any', 'x', 'y'], message: 'inside of any' },
      { path: ['unknown'], message: 'unknown argument' },
    );
    await page.locator('#run').click();
    expect(await page.locator('.problem:not(:empty)').allTextContents()).toEqual([
      'second note',
      'age of the owner',
      'inside of any',
      'unknown argument',
    ]);
    await page.getByRole('button', { name: 'second note' }).click();
    expect(await page.evaluate('document.activeElement.value')).toBe('b');
  });

  it('asks for a second press before it runs a tool that may change something', async () => {
    await show(TOOL);
    await checkedAfter(() => fill({ id: 7, reason: 'left' }));
    const runs = async () => (await said()).filter(({ type }) => type === 'run');
    const run = page.locator('#run');
    await run.dblclick();
    expect(await runs()).toEqual([]);
    expect(await run.textContent()).toBe('Run customer_delete?');
    await page.keyboard.press('Shift+Tab');
    expect(await run.textContent()).toBe('Run');
    await run.focus();
    await page.keyboard.press('Enter');
    expect(await runs()).toEqual([]);
    await page.keyboard.press('Enter');
    expect(await runs()).toEqual([{ type: 'run', json: '{"id":7,"reason":"left"}' }]);
    await show({ ...TOOL, safety: '' });
    await run.click();
    expect(await run.textContent()).toBe('Run customer_delete?');
    await field('id').fill('8');
    expect(await run.textContent()).toBe('Run');
  });

  it('runs a read-only tool at once, shows that it runs, and cancels it', async () => {
    await show(READ);
    await checkedAfter(() => fill({ id: 7, reason: 'left' }));
    await page.locator('#run').click();
    expect((await said()).at(-1)).toEqual({ type: 'run', json: '{"id":7,"reason":"left"}' });
    await post({ type: 'running', waits: false });
    expect(await page.locator('#status').textContent()).toBe('Running… 0 s');
    expect(await page.locator('#run').getAttribute('aria-disabled')).toBe('true');
    await post({ type: 'running', waits: true });
    expect(await page.locator('#status').textContent()).toMatch(/^Waiting for your answer/);
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect((await said()).at(-1)).toEqual({ type: 'cancel' });
    const handles = ['artifact:erp:1'];
    const outcome = {
      isError: false,
      answer: ['ok\n<b>x</b>\n'],
      figures: { durationMs: 117, handles: [] },
    };
    await post({ type: 'outcome', outcome });
    expect(await page.locator('#live').textContent()).toBe('Answered in 117 ms');
    expect(await page.locator('#panel-result').textContent()).toContain('The answer is the whole result');
    await post({ type: 'figures', figures: { durationMs: 118, handles, tokens: { came: 3_100, shown: 412 } } });
    expect(await page.locator('.outcome').textContent()).toBe('Answered in 118 ms · 3,100 → 412 tokens');
    expect(await page.locator('#panel-answer pre').textContent()).toBe('ok\n<b>x</b>');
    expect(await page.getByRole('button', { name: 'Cancel' }).isVisible()).toBe(false);
    expect(await page.evaluate('document.activeElement.id')).toBe('run');
    await page.getByRole('tab', { name: 'Answer as the model gets it' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('button', { name: 'artifact:erp:1' }).click();
    expect((await said()).at(-1)).toEqual({ type: 'openResult', handle: 'artifact:erp:1' });
    await page.getByRole('tab', { name: 'Request' }).click();
    expect(JSON.parse((await page.locator('#panel-request pre').textContent()) ?? '')).toEqual({
      tool_id: READ.toolId,
      args: { id: 7, reason: 'left' },
    });
  });

  it('keeps the arguments over a reload, without secrets', async () => {
    await show(TOOL);
    await checkedAfter(() => fill({ id: 7, api_key: 'abc123def456', owner: { name: 'Ada' } }));
    const state = await kept();
    expect(JSON.stringify(state)).not.toContain('abc123def456');
    expect(await page.locator('#panel-request').textContent()).not.toContain('abc123def456');
    await page.close();
    await open(state);
    const { args } = await checkedAfter(() => show(TOOL));
    expect(args).toEqual({ id: 7, owner: { name: 'Ada' } });
    await page.close();
    await open({ toolId: 'another', draft: (state as { draft: unknown }).draft });
    expect((await checkedAfter(() => show(TOOL))).args).toEqual({});
  });

  it('keeps the input when the definition changes, and takes arguments of earlier calls without their secrets', async () => {
    await show(READ);
    await checkedAfter(() => fill({ id: 7, reason: 'left' }));
    const schema = { type: 'object', properties: { id: { type: 'string' }, reason: { type: 'string' } } };
    expect((await checkedAfter(() => show({ ...READ, schema }))).args).toEqual({ id: 7, reason: 'left' });
    const call = { id: 9, at: 0, client: 'claude-code', isError: true, durationMs: 1_500 };
    await post({ type: 'history', calls: [call] });
    expect(await page.locator('#history li').textContent()).toMatch(/ failed · claude-code · 1\.5 s$/);
    await page.locator('#history button').click();
    expect((await said()).at(-1)).toEqual({ type: 'recall', id: 9 });
    const masked = { id: '8', reason: 'see [REDACTED-SECRET]' };
    expect((await checkedAfter(() => fill(masked))).args).toEqual({ id: '8' });
    expect(await page.locator('#notice').textContent()).toContain('except for secrets');
  });

  it('shows an object or list as JSON and as fields again', async () => {
    await show(READ);
    await checkedAfter(() => fill({ id: 7, notes: ['a'] }));
    await page.locator('#form > .field > .tools').getByRole('button', { name: 'Edit as JSON' }).click();
    const box = page.locator('#form textarea').first();
    expect(JSON.parse(await box.inputValue())).toEqual({ id: 7, notes: ['a'] });
    expect((await checkedAfter(() => box.fill('{"id": 8, "notes": [1], "more": true}'))).args).toEqual({
      id: 8,
      notes: [1],
      more: true,
    });
    await page.getByRole('button', { name: 'Use the Form' }).last().click();
    expect(await field('id').inputValue()).toBe('8');
    expect(await field('Other properties').inputValue()).toContain('"more": true');
  });

  it('works with the keyboard alone', async () => {
    await show(READ);
    const { args, check } = await checkedAfter(async () => {
      for (const key of ['Tab', '7', 'Tab', 'd', 'Tab', 'Enter', 'Tab', '2', '0', '2', '6'])
        await page.keyboard.press(key);
    });
    expect(args).toEqual({ id: 7, reason: 'double', 'Date<b>Sent</b>>': '2026' });
    await post({ type: 'verdict', check, verdict: { kind: 'valid', notes: ['Arguments are valid'] } });
    await page.keyboard.press('Control+Enter');
    expect((await said()).at(-1)).toMatchObject({ type: 'run' });
  });

  it('has no violation of axe in any state and theme', async () => {
    const states: Record<string, () => Promise<unknown>> = {
      waiting: async () => undefined,
      empty: () => show(TOOL),
      open: () => page.locator('summary').click(),
      filled: () => fill({ id: 7, notes: ['a', 'b'], limit: null, owner: { name: 'Ada' }, any: [1], other: 1 }),
      broken: () => field('any').fill('['),
      armed: async () => {
        const { check } = await checkedAfter(() => field('any').fill('1'));
        await post({ type: 'verdict', check, verdict: { kind: 'valid', notes: ['Arguments are valid'] } });
        await page.locator('#run').click();
      },
      running: () => post({ type: 'running', waits: false }),
      answered: () =>
        post({
          type: 'outcome',
          outcome: { isError: true, answer: ['no'], figures: { durationMs: 5, handles: ['h'] } },
        }),
      result: () => page.getByRole('tab', { name: 'Whole result' }).click(),
      history: () => post({ type: 'history', calls: [{ id: 1, at: 0, client: 'you', isError: false, durationMs: 3 }] }),
      invalid: async () => {
        const { check } = await checkedAfter(() => field('id').fill('700'));
        await judgeInvalid(check, { path: ['id'], message: 'id must be at most 99' });
        await page.locator('#run').click();
      },
    };
    for (const [state, reach] of Object.entries(states)) {
      await reach();
      expect(await axeInThemes(page), state).toEqual({});
    }
  });

  it('draws every definition of real servers, and schemas that are none', async () => {
    const listed = sampleListings().flatMap(({ tools }) => tools as { inputSchema: unknown }[]);
    const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`p${index}`, { type: 'string' }]));
    const schemas = [
      ...listed.map(({ inputSchema }) => inputSchema),
      ...Object.values(schemaForms.usable),
      ...Object.values(oddSchemas()),
      ...[true, false, null, 7, [], { $ref: '#' }, { type: 'object', properties: [] }],
      { type: 'object', properties: wide },
      { type: 'object', properties: wide, required: Object.keys(wide) },
      { type: 'object', properties: { a: { enum: Array.from({ length: 100_000 }, (_, index) => index) } } },
    ].map((schema) => JSON.stringify({ ...READ, schema: schema ?? true }));
    schemas.push(
      `{"toolId":"x","name":"x","description":"","server":"x","safety":"","schema":{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"object","properties":{"toString":{}}}}}}`,
    );
    for (let from = 0; from < schemas.length; from += 200) {
      const drawn = await page.evaluate(
        `(${JSON.stringify(schemas.slice(from, from + 200))}).map((json) => {
          dispatchEvent(new MessageEvent('message', { data: { type: 'tool', json } }));
          for (const details of document.querySelectorAll('details')) details.open = true;
          const unnamed = [...document.querySelectorAll('#form :is(label, legend)')].filter((one) => one.textContent.trim() === '');
          return document.querySelectorAll('#form .field').length - 1e6 * unnamed.length;
        })`,
      );
      expect((drawn as number[]).every((fields) => fields > 0)).toBe(true);
    }
    await page.locator('[data-path=\'["__proto__"]\'] textarea').fill('own');
    await page.waitForFunction(() =>
      (globalThis as unknown as { said: FromTry[] }).said.some(
        // Checks of the definitions before come first.
        (message) => message.type === 'check' && message.json === '{"__proto__":"own"}',
      ),
    );
  });
});
