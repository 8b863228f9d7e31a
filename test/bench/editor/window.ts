import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Page } from 'playwright-core';
import { percentile } from '../measure.ts';
import {
  allTools,
  type BenchWindow,
  cpuMs,
  LARGE,
  memoryMb,
  openBenchWindow,
  SERVERS,
  statusItem,
} from './benchWindow.ts';
import type { Figure } from './figure.ts';

const ACTIVATIONS = 10;
const QUESTIONS = 10;
const QUERY = 'update invoice server-7';
/** Time without a change after which a list is complete. */
const QUIET_MS = 250;

/** Processor time within a turn of a process that does nothing. */
const IDLE_CPU_MS = 30;
const IDLE_TURN_MS = 500;
const MAX_IDLE_TURNS = 60;
/** Limit for everything that is waited for. */
const SEEN_MS = 30_000;

const ICON = '.activitybar a[aria-label^="Waygate"]';
const HEADER = '.pane-header[aria-label^="Tools Section"]';
const PANE = `.pane:has(${HEADER})`;
/** Expression of the page: all servers have a row. */
const ROOT_ROWS = `document.querySelectorAll('${PANE} .monaco-list-row').length > ${SERVERS}`;
const TOAST = '.notifications-toasts .notification-list-item';

/** Times of an action: until it was seen, and of the processes that worked for it. */
interface Sample {
  wall: number;
  extensionHost: number;
  worker: number;
}

/** Measures an installed Waygate in a real window with 10,000 tools, from the user's action to what the user sees. */
export async function window(): Promise<Figure[]> {
  const bench = await openBenchWindow();
  try {
    const figures: Figure[] = [];
    for (const part of [activationAndIcon, root, clusters, findTool, questions, largeResults])
      figures.push(...(await part(bench)));
    return figures;
  } finally {
    await bench.close();
  }
}

/**
 * Loads the window again and again, with the views closed, and opens them when all servers are known. VS Code makes the
 * sidebar and the four views at this click, so that it has no limit.
 */
async function activationAndIcon(bench: BenchWindow): Promise<Figure[]> {
  const { page } = bench;
  const clicks: Sample[] = [];
  for (let turn = 0; turn < ACTIVATIONS; turn++) {
    await page.locator('.activitybar a[aria-label^="Explorer"]').click();
    await page.reload();
    await allTools(page);
    await idle(bench);
    // A busy VS Code has not kept that the view was closed: its root is there already.
    if ((await page.locator(PANE).count()) > 0) continue;
    clicks.push(await measured(bench, () => untilSeen(page, `document.querySelector('${ICON}').click()`, ROOT_ROWS)));
  }
  const activations = bench
    .activations()
    .slice(-ACTIVATIONS)
    .toSorted((a, b) => a - b);
  return [
    { name: `activation, best of ${activations.length}`, value: activations[0] ?? Number.NaN, unit: 'ms', limit: 20 },
    { name: 'activation, median', value: percentile(activations, 0.5), unit: 'ms' },
    ...figuresOf('first click on the icon, with the four views', clicks),
  ];
}

/** Loads the window with the views open and the section *Tools* closed, and opens the section. */
async function root(bench: BenchWindow): Promise<Figure[]> {
  const { page } = bench;
  const header = page.locator(HEADER);
  const samples: Sample[] = [];
  for (let turn = 0; turn < ACTIVATIONS; turn++) {
    if ((await header.getAttribute('aria-expanded')) === 'true') await header.click();
    // VS Code writes down a moment later that the section is closed.
    await idle(bench);
    await page.reload();
    await allTools(page);
    await header.waitFor();
    await idle(bench);
    // A busy VS Code has not kept that the section was closed.
    if ((await header.getAttribute('aria-expanded')) === 'true') continue;
    samples.push(
      await measured(bench, () => untilSeen(page, `document.querySelector('${HEADER}').click()`, ROOT_ROWS)),
    );
  }
  if ((await header.getAttribute('aria-expanded')) !== 'true') await header.click();
  return figuresOf('root of 10,000 tools', samples, 100);
}

/** Opens a server, and a cluster in it, of one server after the other. */
async function clusters(bench: BenchWindow): Promise<Figure[]> {
  const { page } = bench;
  const servers: Sample[] = [];
  const below: Sample[] = [];
  const row = (level: number): string => `${PANE} .monaco-list-row[aria-level="${level}"]`;
  const open = (label: string, level: number): Promise<Sample> =>
    measured(bench, () =>
      untilSeen(
        page,
        `[...document.querySelectorAll('${row(level)}')].find((one) => one.querySelector('.label-name').textContent === ${JSON.stringify(label)}).querySelector('.monaco-tl-twistie').click()`,
        `document.querySelectorAll('${row(level + 1)}').length > 0`,
      ),
    );
  for (let server = 0; server < SERVERS; server++) {
    servers.push(await open(`server-${server}`, 1));
    const label = await page
      .locator(`${row(2)}[aria-expanded] .label-name`)
      .first()
      .textContent();
    if (label !== null) below.push(await open(label, 2));
    await page.locator(PANE).hover();
    await page.locator(`${PANE} .action-label[aria-label^="Collapse All"]`).click();
    await page.locator(row(2)).first().waitFor({ state: 'detached' });
  }
  return [...figuresOf('clusters of a server', servers, 100), ...figuresOf('tools of a cluster', below, 100)];
}

/** Types into *Find Tool*, in the way of paths and then in that of the ranking. */
async function findTool(bench: BenchWindow): Promise<Figure[]> {
  const { page } = bench;
  await page.locator(PANE).hover();
  await page.locator(`${PANE} .action-label[aria-label^="Find Tool"]`).click();
  const rows = '.quick-input-list .monaco-list-row';
  await page.locator(rows).first().waitFor();
  const byKey = async (): Promise<Sample[]> => {
    const samples: Sample[] = [];
    for (const key of QUERY) samples.push(await measured(bench, () => untilQuiet(page, key)));
    return samples;
  };
  const paths = await byKey();
  await page.locator('.quick-input-titlebar .action-label').last().click();
  await page.locator('.quick-input-widget input[placeholder^="What the tool should do"]').fill('');
  const ranked = await byKey();
  await page.keyboard.press('Escape');
  // The ranking waits 120 ms for the next key.
  return [...figuresOf('Find Tool, a key', paths, 150), ...figuresOf('Find Tool as an agent would, a key', ranked)];
}

/** Calls a tool that the user is asked about, as an agent without elicitation does. */
async function questions(bench: BenchWindow): Promise<Figure[]> {
  const { page, folder, env } = bench;
  const client = new Client({ name: 'bench', version: '1' });
  const args = [resolve('dist/waygate.cjs'), 'serve', '--workspace', folder];
  const command = { command: process.execPath, args, env: env as Record<string, string>, stderr: 'ignore' as const };
  await client.connect(new StdioClientTransport(command));
  const toasts: Sample[] = [];
  const items: Sample[] = [];
  for (let turn = 0; turn < QUESTIONS; turn++) {
    // The page and this process read the same clock.
    const seenAt = page.evaluate<{ toast: number; item: number }>(`new Promise((done) => {
      const seen = {};
      const look = () => {
        if ([...document.querySelectorAll('${TOAST}')].some((one) => one.textContent.includes('waits for you'))) seen.toast ??= Date.now();
        if (document.querySelector('.statusbar')?.textContent.includes('1 question')) seen.item ??= Date.now();
        if (!seen.toast || !seen.item) return;
        observer.disconnect();
        done(seen);
      };
      const observer = new MutationObserver(look);
      observer.observe(document.body, { childList: true, subtree: true, characterData: true });
    })`);
    await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
    const before = usedBy(bench);
    const started = Date.now();
    const call = client.callTool({ name: 'tool_execute', arguments: { tool_id: 'erp:drop', args: { id: turn } } });
    const { toast, item } = await seenAt;
    const used = usedBy(bench);
    const cpu = { extensionHost: used.extensionHost - before.extensionHost, worker: used.worker - before.worker };
    toasts.push({ wall: toast - started, ...cpu });
    items.push({ wall: item - started, ...cpu });
    await page.locator(`${TOAST} .monaco-button:has-text("Cancel")`).click();
    await call;
    await page.locator(TOAST).first().waitFor({ state: 'detached' });
    await page.locator('.statusbar-item', { hasText: '1 question' }).waitFor({ state: 'detached' });
  }
  await client.close();
  // The first call starts the server.
  return [
    ...figuresOf('question in a notification', toasts.slice(1), 300),
    ...figuresOf('question in the status bar', items.slice(1), 300),
  ];
}

/** Opens the heads of results of 40 MB by a click on their rows. */
async function largeResults(bench: BenchWindow): Promise<Figure[]> {
  const { page } = bench;
  await page.locator('.pane-header[aria-label^="Results Section"]').click();
  const row = page.locator('.pane:has(.pane-header[aria-label^="Results Section"]) .monaco-list-row');
  await row.nth(LARGE - 1).waitFor();
  const samples: Sample[] = [];
  const grown: number[] = [];
  for (let result = 0; result < LARGE; result++) {
    const before = memoryMb(bench.extensionHost());
    const label = `line 0 of ${LARGE - 1 - result}:`;
    await row.nth(result).evaluate((element) => element.setAttribute('data-bench', 'next'));
    samples.push(
      await measured(bench, () =>
        untilSeen(
          page,
          `document.querySelector('[data-bench=next] .monaco-icon-label').click()`,
          `document.querySelector('.editor-instance .view-lines')?.textContent.replaceAll('\\u00a0', ' ').includes('${label}')`,
        ),
      ),
    );
    grown.push(memoryMb(bench.extensionHost()) - before);
    await row.nth(result).evaluate((element) => element.removeAttribute('data-bench'));
    await statusItem(page).waitFor();
  }
  return [
    ...figuresOf('head of 40 MB', samples, 1_500),
    { name: 'head of 40 MB, more memory of the extension host', value: Math.max(...grown), unit: 'MB', limit: 20 },
  ];
}

/** Waits until the extension host and the worker have done what a start brings. */
async function idle(bench: BenchWindow): Promise<void> {
  const spent = (): number => cpuMs(bench.extensionHost()) + cpuMs(bench.worker());
  for (let before = -Infinity, turn = 0; spent() - before > IDLE_CPU_MS && turn < MAX_IDLE_TURNS; turn++) {
    before = spent();
    await new Promise((resolve) => setTimeout(resolve, IDLE_TURN_MS));
  }
}

function usedBy(bench: BenchWindow): Omit<Sample, 'wall'> {
  return { extensionHost: cpuMs(bench.extensionHost()), worker: cpuMs(bench.worker()) };
}

async function measured(bench: BenchWindow, act: () => Promise<number>): Promise<Sample> {
  const before = usedBy(bench);
  const wall = await act();
  const after = usedBy(bench);
  return {
    wall,
    extensionHost: after.extensionHost - before.extensionHost,
    worker: after.worker - before.worker,
  };
}

/** Acts in the page, and returns the time until an expression of the page is true. */
function untilSeen(page: Page, action: string, isSeen: string): Promise<number> {
  return page.evaluate(`new Promise((done, fail) => {
    setTimeout(() => fail(new Error(${JSON.stringify(`not seen: ${isSeen}`)})), ${SEEN_MS});
    const look = () => {
      if (!(${isSeen})) return;
      observer.disconnect();
      done(performance.now() - start);
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { childList: true, subtree: true, characterData: true, attributes: true });
    const start = performance.now();
    ${action};
    look();
  })`);
}

/** Presses a key, and returns the time until the last change of the list of a quick pick. */
async function untilQuiet(page: Page, key: string): Promise<number> {
  const settled = page.evaluate<number>(`new Promise((done) => {
    let start = 0;
    let last = 0;
    addEventListener('keydown', () => { start = performance.now(); }, { once: true, capture: true });
    const observer = new MutationObserver(() => {
      if (start === 0) return;
      last = performance.now();
      clearTimeout(timer);
      timer = setTimeout(end, ${QUIET_MS});
    });
    const end = () => { observer.disconnect(); done(last === 0 ? 0 : last - start); };
    let timer = setTimeout(end, 1500);
    observer.observe(document.querySelector('.quick-input-list'), { childList: true, subtree: true, characterData: true });
  })`);
  await page.keyboard.press(key === ' ' ? 'Space' : key);
  return settled;
}

function figuresOf(name: string, samples: readonly Sample[], limit?: number): Figure[] {
  if (samples.length === 0) throw new Error(`${name} was not measured.`);
  const sorted = (of: keyof Sample): number[] => samples.map((one) => one[of]).toSorted((a, b) => a - b);
  const wall = sorted('wall');
  const mean = (of: keyof Sample): number => sorted(of).reduce((sum, one) => sum + one, 0) / samples.length;
  return [
    {
      name: `${name}, p50`,
      value: percentile(wall, 0.5),
      unit: 'ms',
      ...(limit !== undefined && { limit }),
      best: wall[0] ?? 0,
      worst: wall.at(-1) ?? 0,
      cpu: { extensionHost: mean('extensionHost'), worker: mean('worker') },
    },
  ];
}
