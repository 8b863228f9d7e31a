import { build } from 'esbuild';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findBrowser } from '../../scripts/lib/systemPackages.mjs';
import type { DashboardState, FromDashboard } from '../../src/control/dashboardMessages.ts';
import { dashboardPage } from '../../src/extension/dashboard/dashboardPage.ts';
import { BUSY, BUSY_PAGE } from './sample.ts';

/** `npm test` ensures that a browser is installed. */
const BROWSER = findBrowser();
const ORIGIN = 'http://dashboard.test';

let browser: Browser;
let files: Record<string, { contentType: string; body: string }>;
let page: Page;
let violations: string[];

async function bundle(entry: string): Promise<string> {
  const path = new URL(`../../webview/dashboard/${entry}`, import.meta.url).pathname;
  const { outputFiles } = await build({ entryPoints: [path], bundle: true, write: false, target: 'es2023' });
  return outputFiles[0]?.text ?? '';
}

/** Opens the page under its real policy; the test plays the editor's side. */
async function openPage(): Promise<void> {
  page = await browser.newPage();
  // The test's own limit is meant for busy machines.
  page.setDefaultTimeout(0);
  violations = [];
  page.on('console', (message) => void (message.type() === 'error' && violations.push(message.text())));
  page.on('pageerror', (error) => void violations.push(error.message));
  await page.route('**/*', (route) => {
    const file = files[new URL(route.request().url()).pathname];
    return file ? route.fulfill(file) : route.fulfill({ status: 204 });
  });
  await page.addInitScript(`
    window.said = [];
    window.acquireVsCodeApi = () => ({ postMessage: (message) => window.said.push(message), setState: () => {} });
  `);
  await page.goto(`${ORIGIN}/`);
}

const said = (): Promise<FromDashboard[]> => page.evaluate('window.said');
const post = (message: unknown): Promise<unknown> =>
  page.evaluate(`new Promise((done) => {
    addEventListener('message', () => done(), { once: true });
    postMessage(${JSON.stringify(message)}, '*');
  })`);
const show = (state: DashboardState): Promise<unknown> => post({ type: 'state', state });

describe.skipIf(BROWSER === undefined)('dashboard in a browser', () => {
  beforeAll(async () => {
    const [script, style] = await Promise.all([bundle('main.ts'), bundle('dashboard.css')]);
    const html = dashboardPage({ cspSource: ORIGIN, script: `${ORIGIN}/d.js`, style: `${ORIGIN}/d.css` });
    files = {
      '/': { contentType: 'text/html', body: html },
      '/d.js': { contentType: 'text/javascript', body: script },
      '/d.css': { contentType: 'text/css', body: style },
    };
    browser = await chromium.launch({
      executablePath: BROWSER as string,
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
    });
  });
  afterAll(() => browser?.close());
  beforeEach(openPage);
  afterEach(async () => {
    await page.close();
    expect(violations).toEqual([]);
  });

  it('requests its state as soon as it listens, and draws it', async () => {
    expect(await said()).toEqual([{ type: 'ready' }]);
    await show(BUSY_PAGE);
    expect(await page.locator('.health').textContent()).toBe('Degraded 27 tools from 2 servers; 2 problems.');
    expect(await page.getByRole('table', { name: 'Servers' }).getByRole('row').count()).toBe(BUSY.servers.length + 1);
    expect(await page.getByRole('rowheader', { name: 'filesystem' }).count()).toBe(1);
  });

  it('sends the request of each button', async () => {
    await show(BUSY_PAGE);
    for (const name of ['Refresh', 'Open Configuration', 'Show Log', 'tickets', 'line 14, column 14']) {
      await page.getByRole('button', { name, exact: true }).click();
    }
    expect((await said()).slice(1)).toEqual([
      { type: 'action', action: 'refresh' },
      { type: 'action', action: 'openConfiguration' },
      { type: 'action', action: 'showLog' },
      { type: 'openServer', server: 'tickets' },
      { type: 'openProblem', index: 0 },
    ]);
  });

  it('sends no second refresh while one is running', async () => {
    await show({ ...BUSY_PAGE, refreshing: true });
    await page.getByRole('button', { name: 'Refreshing…' }).click({ force: true });
    expect(await said()).toEqual([{ type: 'ready' }]);
  });

  it('keeps the focus and opened details when a part is redrawn', async () => {
    await show(BUSY_PAGE);
    await page.locator('#refresh').focus();
    await page.locator('[data-server="tickets"] summary').click();
    await page.locator('#refresh').focus();
    await show({ ...BUSY_PAGE, now: BUSY_PAGE.now + 3_600_000, refreshing: true });
    expect(await page.evaluate('document.activeElement.id')).toBe('refresh');
    expect(await page.locator('#refresh').textContent()).toBe('Refreshing…');
    expect(await page.locator('[data-server="tickets"] details').getAttribute('open')).toBe('');
  });

  it('replaces only the parts that differ', async () => {
    await show(BUSY_PAGE);
    await page.evaluate(`document.querySelectorAll('[data-part]').forEach((part) => (part.kept = true))`);
    await show({ ...BUSY_PAGE, snapshot: { ...BUSY, recentCalls: [] } });
    const drawn = await page.evaluate(
      `[...document.querySelectorAll('[data-part]')].filter((part) => !part.kept).map((part) => part.dataset.part)`,
    );
    expect(drawn).toEqual(['calls']);
  });

  it('redraws everything when a part is added or removed', async () => {
    await show(BUSY_PAGE);
    const catalog = { ...BUSY.catalog, skipped: [] };
    await show({ ...BUSY_PAGE, snapshot: { ...BUSY, catalog } });
    expect(await page.locator('[data-part="skipped"]').count()).toBe(0);
    await show(BUSY_PAGE);
    expect(await page.locator('[data-part="skipped"]').count()).toBe(1);
  });

  it('announces only changes to a screen reader', async () => {
    await show(BUSY_PAGE);
    await page.evaluate(`
      window.spoken = 0;
      new MutationObserver(() => window.spoken++).observe(document.getElementById('live'), { childList: true, characterData: true, subtree: true });
    `);
    await show({ ...BUSY_PAGE, now: BUSY_PAGE.now + 60_000 });
    expect(await page.evaluate('window.spoken')).toBe(0);
    await show({ ...BUSY_PAGE, summary: { level: 'ready', headline: 'All is well.', problems: [] } });
    expect(await page.evaluate('window.spoken')).toBe(1);
    expect(await page.getByRole('status').textContent()).toBe('All is well.');
  });

  it('ignores messages from other sources', async () => {
    await show(BUSY_PAGE);
    for (const message of [null, 'x', { type: 'state' }, { type: 'state', state: {} }]) await post(message);
    expect(await page.locator('.health').getAttribute('data-health')).toBe('degraded');
  });

  it('runs no script from a server’s text', async () => {
    const servers = BUSY.servers.map((one) => ({ ...one, reason: '<img src=x onerror="window.broken=1"><b>bold</b>' }));
    await show({ ...BUSY_PAGE, snapshot: { ...BUSY, servers } });
    expect(await page.locator('#page img, #page b').count()).toBe(0);
    expect(await page.evaluate('window.broken')).toBeUndefined();
  });

  it('shows no animation if the user prefers reduced motion', async () => {
    await show(BUSY_PAGE);
    const motion = `getComputedStyle(document.querySelector('.spin')).animationName`;
    expect(await page.evaluate(motion)).toBe('turn');
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await page.evaluate(motion)).toBe('none');
  });
});
