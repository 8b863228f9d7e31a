import { chromium, type Page } from 'playwright-core';
import { findBrowser } from '../../../scripts/lib/systemPackages.mjs';
import type { ServerStatus } from '../../../src/control/contract.ts';
import type { DashboardState } from '../../../src/control/dashboardMessages.ts';
import { dashboardState } from '../../../src/extension/dashboard/dashboardModel.ts';
import { pageFiles } from '../../support/webPages.ts';
import { BUSY, NOW, sources, telemetry } from '../../webview/sample.ts';
import { percentile } from '../measure.ts';
import type { Figure } from './figure.ts';

const ORIGIN = 'http://dashboard.test';
const UPDATES = 60;
const CALLS = 100;

/** Measures an update of the dashboard, from the message to the end of the layout: 12 servers, 20 tools, 100 calls each. */
export async function dashboard(): Promise<Figure[]> {
  const states = Array.from({ length: UPDATES }, (_, index) => stateAfter(index * CALLS));
  const made: number[] = [];
  for (let index = 0; index < UPDATES; index++) {
    const start = performance.now();
    JSON.stringify(stateAfter(index));
    made.push(performance.now() - start);
  }
  const browser = await chromium.launch({
    executablePath: findBrowser() ?? '',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  const page = await browser.newPage();
  await open(page);
  const drawn: number[] = [];
  for (const state of states) drawn.push(await update(page, state));
  const nodes = Number(await page.evaluate('document.querySelectorAll("*").length'));
  await browser.close();
  // The first update draws the whole page.
  const [first = 0, ...later] = drawn;
  const sorted = later.toSorted((a, b) => a - b);
  return [
    { name: `update after ${CALLS} calls, p50`, value: percentile(sorted, 0.5), unit: 'ms', limit: 25 },
    { name: 'update, best', value: sorted[0] ?? 0, unit: 'ms', limit: 8 },
    { name: 'update, p95', value: percentile(sorted, 0.95), unit: 'ms' },
    { name: 'first state', value: first, unit: 'ms' },
    {
      name: 'state made in the extension, p50',
      value: percentile(
        made.toSorted((a, b) => a - b),
        0.5,
      ),
      unit: 'ms',
    },
    { name: 'state as a message', value: JSON.stringify(states.at(-1)).length / 1_024, unit: 'KB', limit: 60 },
    { name: 'nodes of the page', value: nodes, unit: 'nodes' },
  ];
}

async function open(page: Page): Promise<void> {
  const files = await pageFiles('dashboard', ORIGIN);
  await page.route('**/*', (route) => {
    const file = files[new URL(route.request().url()).pathname];
    return file ? route.fulfill(file) : route.fulfill({ status: 204 });
  });
  await page.addInitScript('window.acquireVsCodeApi = () => ({ postMessage() {}, getState() {}, setState() {} })');
  await page.goto(`${ORIGIN}/`);
}

function update(page: Page, state: DashboardState): Promise<number> {
  return page.evaluate(`new Promise((done) => {
    let start = 0;
    addEventListener('message', () => { document.body.offsetHeight; done(performance.now() - start); }, { once: true });
    start = performance.now();
    postMessage(${JSON.stringify({ type: 'state', state })}, '*');
  })`);
}

function stateAfter(calls: number): DashboardState {
  const servers = Array.from({ length: 12 }, (_, index): ServerStatus => {
    const one = BUSY.servers[index % BUSY.servers.length] as ServerStatus;
    return { ...one, name: `${one.name}-${index}`, calls: calls + index * 7, lastUsedAt: NOW - index * 9_000 };
  });
  const report = telemetry(20);
  const tools = report.tools.map((row) => ({ ...row, request_count: row.request_count + calls }));
  const per_minute = report.calls?.per_minute.map((minute, index) => ({
    ...minute,
    calls: (minute.calls + calls + index) % 90,
  }));
  return dashboardState(
    sources({
      now: NOW + calls * 10,
      snapshot: { ...BUSY, servers },
      telemetry: { ...report, tools, ...(report.calls && per_minute && { calls: { ...report.calls, per_minute } }) },
    }),
  );
}
