import { build } from 'esbuild';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findBrowser } from '../../scripts/lib/systemPackages.mjs';
import { type FromTable, parseFromTable, parseToTable, type TableState } from '../../src/control/tableMessages.ts';
import { dashboardPage } from '../../src/extension/dashboard/dashboardPage.ts';
import { renderTable } from '../../webview/table/render.ts';
import { axeInThemes } from './themes.ts';

/** `npm test` ensures that a browser is installed. */
const BROWSER = findBrowser();
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
  const violations: string[] = [];

  const said = (): Promise<FromTable[]> => page.evaluate('window.said');
  const show = (state: TableState): Promise<unknown> =>
    page.evaluate(`new Promise((done) => {
      addEventListener('message', () => done(), { once: true });
      postMessage(${JSON.stringify({ type: 'state', state })}, '*');
    })`);

  beforeAll(async () => {
    const bundle = async (entry: string): Promise<string> => {
      const path = new URL(`../../webview/table/${entry}`, import.meta.url).pathname;
      const { outputFiles } = await build({ entryPoints: [path], bundle: true, write: false, target: 'es2023' });
      return outputFiles[0]?.text ?? '';
    };
    const source = { cspSource: ORIGIN, script: `${ORIGIN}/t.js`, style: `${ORIGIN}/t.css`, title: 'Table' };
    const files: Record<string, { contentType: string; body: string }> = {
      '/': { contentType: 'text/html', body: dashboardPage(source) },
      '/t.js': { contentType: 'text/javascript', body: await bundle('main.ts') },
      '/t.css': { contentType: 'text/css', body: await bundle('table.css') },
    };
    browser = await chromium.launch({
      executablePath: BROWSER as string,
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
    });
    page = await browser.newPage();
    page.setDefaultTimeout(0);
    page.on('console', (message) => void (message.type() === 'error' && violations.push(message.text())));
    page.on('pageerror', (error) => void violations.push(error.message));
    await page.route('**/*', (route) => {
      const file = files[new URL(route.request().url()).pathname];
      return file ? route.fulfill(file) : route.fulfill({ status: 204 });
    });
    await page.addInitScript(`
      window.said = [];
      window.acquireVsCodeApi = () => ({ postMessage: (message) => window.said.push(message) });
    `);
    await page.goto(`${ORIGIN}/`);
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
    expect(violations).toEqual([]);
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
