import { build } from 'esbuild';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findBrowser } from '../../scripts/lib/systemPackages.mjs';
import { dashboardPage, tablePage } from '../../src/extension/dashboard/dashboardPage.ts';
import { tryPage } from '../../src/extension/try/tryPage.ts';
import type { PageSources } from '../../src/extension/webviewPage.ts';

/** Browser for the pages of the extension. `npm test` ensures that one is installed. */
export const BROWSER = findBrowser();

export type PageFiles = Readonly<Record<string, { contentType: string; body: string }>>;

type PageName = 'dashboard' | 'table' | 'try';

const RENDER: Record<PageName, (sources: PageSources) => string> = {
  dashboard: (sources) => dashboardPage(sources),
  table: tablePage,
  try: tryPage,
};

/** Builds the files of a page by path, under its real policy. */
export async function pageFiles(name: PageName, origin: string): Promise<PageFiles> {
  const [script, style] = await Promise.all([bundle(`${name}/main.ts`), bundle(`${name}/${name}.css`)]);
  const html = RENDER[name]({ cspSource: origin, script: `${origin}/p.js`, style: `${origin}/p.css` });
  return {
    '/': { contentType: 'text/html', body: html },
    '/p.js': { contentType: 'text/javascript', body: script },
    '/p.css': { contentType: 'text/css', body: style },
  };
}

async function bundle(entry: string): Promise<string> {
  const path = new URL(`../../webview/${entry}`, import.meta.url).pathname;
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    write: false,
    minify: true,
    target: 'es2023',
  });
  return outputFiles[0]?.text ?? '';
}

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: BROWSER as string,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  });
}

/** Page in a browser; the test plays the editor's side. */
export interface OpenedPage<Said> {
  page: Page;
  /** Errors of the page, and what its policy has refused. */
  violations: readonly string[];
  /** Returns what the page has said to the editor. */
  said(): Promise<Said[]>;
  /** Sends a message to the page and waits for its arrival. */
  post(message: unknown): Promise<unknown>;
}

/** Opens a page. `kept` is the state that the editor has kept of it. */
export async function openPage<Said>(
  browser: Browser,
  origin: string,
  files: PageFiles,
  kept?: unknown,
): Promise<OpenedPage<Said>> {
  const page = await browser.newPage();
  // The test's own limit is meant for busy machines.
  page.setDefaultTimeout(0);
  const violations: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && violations.push(message.text())));
  page.on('pageerror', (error) => void violations.push(error.message));
  await page.route('**/*', (route) => {
    const file = files[new URL(route.request().url()).pathname];
    return file ? route.fulfill(file) : route.fulfill({ status: 204 });
  });
  await page.addInitScript(`
    window.said = [];
    window.kept = ${JSON.stringify(kept) ?? 'undefined'};
    window.acquireVsCodeApi = () => ({
      postMessage: (message) => window.said.push(message),
      getState: () => window.kept,
      setState: (state) => { window.kept = JSON.parse(JSON.stringify(state)); },
    });
  `);
  await page.goto(`${origin}/`);
  return {
    page,
    violations,
    said: () => page.evaluate('window.said'),
    post: (message) =>
      page.evaluate(`new Promise((done) => {
        addEventListener('message', () => done(), { once: true });
        postMessage(${JSON.stringify(message)}, '*');
      })`),
  };
}
