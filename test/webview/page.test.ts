import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { DashboardState, FromDashboard } from '../../src/control/dashboardMessages.ts';
import { dashboardState } from '../../src/extension/dashboard/dashboardModel.ts';
import { BROWSER, launchBrowser, type OpenedPage, openPage, type PageFiles, pageFiles } from '../support/webPages.ts';
import { BUSY, NOW, PAGES, sources } from './sample.ts';
import { axeInThemes } from './themes.ts';

const ORIGIN = 'http://dashboard.test';

let browser: Browser;
let files: PageFiles;
let page: Page;
let opened: OpenedPage<FromDashboard>;

const said = (): Promise<FromDashboard[]> => opened.said();
const post = (message: unknown): Promise<unknown> => opened.post(message);
const show = (state: DashboardState): Promise<unknown> => post({ type: 'state', state });

describe.skipIf(BROWSER === undefined)('dashboard in a browser', () => {
  beforeAll(async () => {
    files = await pageFiles('dashboard', ORIGIN);
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    opened = await openPage(browser, ORIGIN, files);
    page = opened.page;
  });
  afterEach(async () => {
    await page.close();
    expect(opened.violations).toEqual([]);
  });

  it('requests its state as soon as it listens, and draws it', async () => {
    expect(await said()).toEqual([{ type: 'ready' }]);
    await show(PAGES.degraded);
    expect(await page.locator('.health').textContent()).toBe(`Degraded ${PAGES.degraded.now.headline}`);
    const titles = await page.getByRole('heading', { level: 2 }).allTextContents();
    expect(titles).toEqual(['Needs you', 'Now', 'Limits', 'Servers', 'Tools']);
    const servers = page.getByRole('table', { name: 'Servers' });
    expect(await servers.getByRole('rowheader').count()).toBe(BUSY.servers.length);
  });

  it('sends the action of each button with its subject', async () => {
    await show(PAGES.degraded);
    const names = [
      'Refresh',
      'Review… the call of Visual Studio Code',
      'Sign In calendar',
      'Try Again tickets',
      'archive',
    ];
    for (const name of names) await page.getByRole('button', { name, exact: true }).first().click();
    await page.getByRole('button', { name: 'read_text_file' }).click();
    await page.getByRole('button', { name: 'Switch Off filesystem' }).click();
    expect((await said()).slice(1)).toEqual([
      { type: 'action', action: 'refresh' },
      { type: 'action', action: 'answerQuestion', subject: '4' },
      { type: 'action', action: 'signIn', subject: 'calendar' },
      { type: 'action', action: 'refreshServer', subject: 'tickets' },
      { type: 'action', action: 'openServer', subject: 'archive' },
      { type: 'action', action: 'openTool', subject: 'filesystem:read_text_file#00000000' },
      { type: 'action', action: 'switchOff', subject: 'filesystem' },
    ]);
  });

  it('sends no second refresh while one is running', async () => {
    await show({ ...PAGES.degraded, refreshing: true });
    await page.getByRole('button', { name: 'Refreshing…' }).click({ force: true });
    expect(await said()).toEqual([{ type: 'ready' }]);
  });

  it('keeps focus, scroll position and opened details when rows are redrawn and move', async () => {
    await page.setViewportSize({ width: 700, height: 300 });
    await show(PAGES.degraded);
    await page.getByRole('button', { name: 'Details of everything' }).click();
    const restart = page.locator('[id="server:everything:restartServer"]');
    await restart.focus();
    const top = await page.evaluate('scrollY');
    expect(top).toBeGreaterThan(0);
    const servers = BUSY.servers.map((one) => (one.name === 'everything' ? { ...one, calls: 900 } : one));
    await show(dashboardState(sources({ snapshot: { ...BUSY, servers } })));
    const order = await page
      .locator('[data-part="servers"] tbody')
      .evaluateAll((rows) => rows.map((row) => row.getAttribute('data-row')));
    expect(order.indexOf('server:everything')).toBe(order.indexOf('server:filesystem') - 1);
    expect(await page.evaluate('document.activeElement.id')).toBe('server:everything:restartServer');
    expect(await page.evaluate('scrollY')).toBe(top);
    expect(await page.locator('[data-row="server:everything"] .details').isVisible()).toBe(true);
  });

  it('replaces only the row that differs', async () => {
    await show(PAGES.degraded);
    await page.evaluate(`document.querySelectorAll('[data-part], [data-row]').forEach((one) => (one.kept = true))`);
    const servers = BUSY.servers.map((one) => (one.name === 'everything' ? { ...one, calls: 41 } : one));
    await show(dashboardState(sources({ snapshot: { ...BUSY, servers } })));
    const drawn = await page.evaluate(
      `[...document.querySelectorAll('[data-part], [data-row]')].filter((one) => !one.kept).map((one) => one.dataset.row ?? one.dataset.part)`,
    );
    expect(drawn).toEqual(['server:everything']);
  });

  it('does not redraw while the pointer is down, so that no click is lost', async () => {
    await show(PAGES.degraded);
    const button = page.getByRole('button', { name: 'Restart tickets' }).last();
    await button.hover();
    await page.mouse.down();
    const servers = BUSY.servers.map((one) => ({ ...one, calls: 77 }));
    await show(dashboardState(sources({ snapshot: { ...BUSY, servers } })));
    await page.mouse.up();
    expect((await said()).at(-1)).toEqual({ type: 'action', action: 'restartServer', subject: 'tickets' });
    await page.getByText('77 / 9').waitFor();
  });

  it('adds and removes a section without redrawing the others', async () => {
    await show(PAGES.degraded);
    await page.evaluate(`document.querySelector('[data-part="tools"]').kept = true`);
    await show(PAGES.ready);
    expect(
      await page.locator('[data-part]').evaluateAll((found) => found.map((one) => one.getAttribute('data-part'))),
    ).toEqual(['header', 'now', 'limits', 'servers', 'tools']);
    await show(PAGES.degraded);
    expect(await page.locator('[data-part]').nth(1).getAttribute('data-part')).toBe('needs');
    expect(await page.evaluate(`document.querySelector('[data-part="tools"]').kept`)).toBe(true);
  });

  it('sorts the tools by a column, and keeps that for the next page', async () => {
    await show(PAGES.degraded);
    await page.getByRole('button', { name: 'Errors' }).click();
    const errors = page.getByRole('table', { name: 'Tools' }).getByRole('columnheader', { name: 'Errors' });
    expect(await errors.getAttribute('aria-sort')).toBe('descending');
    expect(await page.locator('[data-part="tools"] tbody th').first().textContent()).toContain('create_issue');
    expect(await page.evaluate('document.activeElement.id')).toBe('sort-errors');
    expect(await page.evaluate('window.kept')).toEqual({ sorting: { by: 'errors', descending: true }, open: [] });
  });

  it('announces only a new headline to a screen reader', async () => {
    await show(PAGES.degraded);
    await page.evaluate(`
      window.spoken = 0;
      new MutationObserver(() => window.spoken++).observe(document.getElementById('live'), { childList: true, characterData: true, subtree: true });
    `);
    await show(dashboardState(sources({ now: NOW + 60_000 })));
    expect(await page.evaluate('window.spoken')).toBe(0);
    await show(PAGES.ready);
    expect(await page.evaluate('window.spoken')).toBe(1);
    expect(await page.getByRole('status').textContent()).toBe(PAGES.ready.now.headline);
  });

  it('ignores messages from other sources', async () => {
    await show(PAGES.degraded);
    for (const message of [null, 'x', { type: 'state' }, { type: 'state', state: {} }]) await post(message);
    expect(await page.locator('.health').getAttribute('data-health')).toBe('degraded');
  });

  it('runs no script from a server’s text', async () => {
    const servers = BUSY.servers.map((one) => ({ ...one, reason: '<img src=x onerror="window.broken=1"><b>bold</b>' }));
    await show(dashboardState(sources({ snapshot: { ...BUSY, servers } })));
    expect(await page.locator('#page img, #page b').count()).toBe(0);
    expect(await page.evaluate('window.broken')).toBeUndefined();
  });

  it('shows no animation if the user prefers reduced motion', async () => {
    await show(PAGES.degraded);
    const motion = `getComputedStyle(document.querySelector('.spin')).animationName`;
    expect(await page.evaluate(motion)).toBe('turn');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await page.evaluate(motion)).toBe('none');
  });

  describe.each(Object.keys(PAGES) as (keyof typeof PAGES)[])('in the state %s', (name) => {
    it('fits a column of 402 pixels, and tabs from top to bottom', async () => {
      await page.setViewportSize({ width: 402, height: 800 });
      await show(PAGES[name]);
      for (const toggle of await page.locator('[data-toggle]').all()) await toggle.click();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(402);
      const places = (await page.evaluate(`[...document.querySelectorAll('button, [tabindex="0"]')]
        .filter((one) => one.checkVisibility())
        .map((one) => { const { top, left } = one.getBoundingClientRect(); return [Math.round(top / 16), left]; })`)) as [
        number,
        number,
      ][];
      const sorted = places.toSorted(([a, x], [b, y]) => a - b || x - y);
      expect(places).toEqual(sorted);
    });

    it('has no accessibility violation in any theme', async () => {
      await show(PAGES[name]);
      for (const toggle of await page.locator('[data-toggle]').all()) await toggle.click();
      expect(await axeInThemes(page)).toEqual({});
    });
  });
});
