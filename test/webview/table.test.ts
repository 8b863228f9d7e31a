import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FromTable, parseFromTable, parseToTable, type TableState } from '../../src/control/tableMessages.ts';
import { renderTable } from '../../webview/table/render.ts';
import { BROWSER, launchBrowser, type OpenedPage, openPage, pageFiles } from '../support/webPages.ts';
import { axeInThemes } from './themes.ts';

const ORIGIN = 'http://table.test';

const STATE: TableState = {
  title: 'invoice_export',
  query: { start: 101, sort: 1, descending: true, contains: 'a' },
  columns: ['name', 'amount'],
  rows: [
    ['Ada', '12.5'],
    ['<img src=x onerror=alert(1)>', '7'],
  ],
  total: 2_000,
  wrangler: false,
};

describe('the table', () => {
  it('is a real table with its place, its order and numbered rows', () => {
    const html = renderTable(STATE);
    expect(html).toContain('rows 101 to 102 of 2,000');
    expect(html).toContain('<th scope="col" aria-sort="descending"><button type="button" class="link" id="sort-1"');
    expect(html).toContain('<th scope="row" class="number">101</th><td>Ada</td><td class="number">12.5</td>');
    expect(html).toMatch(/id="last" class="secondary" data-start="1901"/);
    expect(html).not.toContain('<img');
  });

  it('says why there is none, and keeps what it showed', () => {
    expect(renderTable({ ...STATE, columns: [], rows: [], reason: 'This result is no table.' })).toBe(
      '<p class="notice">This result is no table.</p>',
    );
    expect(renderTable({ ...STATE, reason: 'The gateway is not running.' })).toContain('<td>Ada</td>');
  });

  it('accepts only well-formed messages', () => {
    expect(parseFromTable({ type: 'query', query: { start: 1, sort: 0, descending: 'yes', contains: 'x' } })).toEqual({
      type: 'query',
      query: { start: 1, sort: 0, descending: false, contains: 'x' },
    });
    for (const start of [0, -1, 1.5, '1', undefined]) {
      expect(parseFromTable({ type: 'query', query: { start } })).toBeUndefined();
    }
    expect(parseFromTable({ type: 'action', action: 'deleteAll' })).toBeUndefined();
    expect(parseFromTable({ type: 'action', action: 'copyCsv' })).toEqual({ type: 'action', action: 'copyCsv' });
    expect(parseToTable({ type: 'state', state: STATE })).toEqual({ type: 'state', state: STATE });
    expect(parseToTable({ type: 'state', state: { ...STATE, rows: 'all' } })).toBeUndefined();
  });
});

describe.skipIf(BROWSER === undefined)('the table in a browser', () => {
  let browser: Browser;
  let page: Page;
  let opened: OpenedPage<FromTable>;

  const said = (): Promise<FromTable[]> => opened.said();
  const show = (state: TableState): Promise<unknown> => opened.post({ type: 'state', state });

  beforeAll(async () => {
    browser = await launchBrowser();
    opened = await openPage(browser, ORIGIN, await pageFiles('table', ORIGIN));
    page = opened.page;
  });
  afterAll(() => browser?.close());

  it('asks for pages, orders and text, and keeps the focus while it is redrawn', async () => {
    expect(await said()).toEqual([{ type: 'ready' }]);
    await show({ ...STATE, query: { start: 1 } });
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByRole('button', { name: 'amount' }).click();
    await page.getByRole('button', { name: 'amount' }).click();
    expect((await said()).slice(1)).toEqual([
      { type: 'query', query: { start: 101 } },
      { type: 'query', query: { start: 1, sort: 1, descending: false } },
      { type: 'query', query: { start: 1, sort: 1, descending: true } },
    ]);
    await show({ ...STATE, query: { start: 1, sort: 1, descending: true } });
    expect(await page.evaluate('document.activeElement.id')).toBe('sort-1');
    await page.getByRole('searchbox', { name: 'Contains' }).fill('ada');
    await expect
      .poll(async () => (await said()).at(-1), { timeout: 100_000 })
      .toMatchObject({ query: { contains: 'ada', sort: 1 } });
    await show({ ...STATE, query: { start: 1, sort: 1, descending: true, contains: 'ada' } });
    expect(await page.evaluate('document.activeElement.id')).toBe('contains');
    expect(await page.getByRole('searchbox').inputValue()).toBe('ada');
  });

  it('keeps its header in sight, copies by its buttons, and breaks no policy', async () => {
    const rows = Array.from({ length: 100 }, (_, index) => [`name ${index}`, String(index)]);
    await page.setViewportSize({ width: 402, height: 300 });
    await show({ ...STATE, query: { start: 1 }, rows });
    const region = page.getByRole('region', { name: 'Table of invoice_export' });
    await region.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    expect(await page.getByRole('columnheader', { name: 'name' }).evaluate(isInSight)).toBe(true);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.getByRole('button', { name: 'Copy Page as CSV' }).click();
    await page.getByRole('button', { name: 'First' }).dispatchEvent('click');
    expect((await said()).at(-1)).toEqual({ type: 'action', action: 'copyCsv' });
    expect(opened.violations).toEqual([]);
  });

  it.each<[string, Partial<TableState>]>([
    ['with rows', {}],
    ['on its first page', { query: { start: 1 } }],
    ['without a hit', { query: { start: 1, contains: 'nobody' }, rows: [], total: 0 }],
    ['with the button of Data Wrangler', { wrangler: true }],
    ['without a name of a column', { columns: ['', 'amount'] }],
    ['of a gateway that has ended', { reason: 'The gateway is not running.' }],
    ['of a result that is none', { columns: [], rows: [], reason: 'This result is no table.' }],
  ])('has no violation of axe in any theme: a table %s', async (_, part) => {
    // The header is drawn once.
    await page.reload();
    await show({ ...STATE, ...part });
    expect(await axeInThemes(page)).toEqual({});
  });
});

interface PageElement {
  getBoundingClientRect(): { top: number; bottom: number };
}

/** Runs in the page. */
function isInSight(element: PageElement): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= 300;
}
