import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import axe from 'axe-core';
import type { Frame, Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { writeDemoWorkspace } from '../../../scripts/lib/demo.mjs';
import { until } from '../../support/hostProcess.ts';
import { testWorkspace } from '../../support/workspace.ts';
import { workbench } from '../harness/workbench.ts';
import { openWindow } from './openWindow.ts';

/** Theme by the class that VS Code gives a page in it. */
const THEMES = {
  'vscode-dark': 'Default Dark Modern',
  'vscode-light': 'Default Light Modern',
  'vscode-high-contrast': 'Default High Contrast',
  'vscode-high-contrast-light': 'Default High Contrast Light',
};

/** Clicks the status bar: a key press goes to whatever has the focus. */
const openDashboard = (page: Page): Promise<void> =>
  page.locator('.statusbar-item', { hasText: 'Waygate' }).first().click();

async function dashboardFrame(page: Page): Promise<Frame> {
  return until('the dashboard', async () => {
    for (const frame of page.frames()) {
      const isDrawn = await frame
        .evaluate(`document.querySelector('[data-part="servers"] tbody') !== null`)
        .catch(() => false);
      if (isDrawn) return frame;
    }
    return undefined;
  });
}

const dashboards = (page: Page): Promise<number> =>
  page.locator('.tabs-container .tab', { hasText: 'Waygate' }).count();

it('the dashboard counts limits down, has one tab, also after a reload, and no accessibility violation in any theme', async () => {
  const workspace = testWorkspace();
  writeDemoWorkspace(resolve('.'), workspace.folder);
  const file = join(workspace.folder, '.vscode', 'waygate.json');
  const configuration = JSON.parse(readFileSync(file, 'utf8')) as object;
  const rateLimits = { tool_browse: { maxCallsPerMinute: 3 }, tool_execute: { maxCallsPerMinute: 40 } };
  writeFileSync(file, JSON.stringify({ ...configuration, rateLimits }, null, 2));
  workspace.approve();
  const page = await openWindow(workspace);
  const window = workbench(page, join('.out', 'screenshots'));
  await openDashboard(page);
  const shown = await dashboardFrame(page);
  const shows = (words: string) =>
    until(words, async () => String(await shown.evaluate('document.body.innerText')).includes(words));
  const browse = () =>
    spawnSync(process.execPath, [resolve('dist/waygate.cjs'), 'browse', 'read a file'], {
      cwd: workspace.folder,
      env: { ...process.env, ...workspace.env },
    });
  const searches = async (part: string, of: 'textContent' | 'value' = 'textContent'): Promise<string> =>
    String(
      await shown.evaluate(
        `[...document.querySelectorAll('.limits li')].find((row) => row.textContent.includes('Searches'))?.querySelector('${part}')?.${of}`,
      ),
    );
  await shows('no calls yet');
  browse();
  await shows('2 of 3 left');
  expect(await searches('meter', 'value')).toBe('2');
  const seconds: number[] = [];
  await until('the time to count down', async () => {
    const now = Number(/^frees in (\d+) s$/.exec(await searches('.limit-frees'))?.[1]);
    if (now !== seconds.at(-1)) seconds.push(now);
    return seconds.length === 4;
  });
  expect(seconds).toEqual([...seconds].sort((a, b) => b - a));
  expect(seconds[0]).toBeLessThanOrEqual(60);
  for (let call = 1; call < 4; call++) browse();
  await shows('0 of 3 left');
  expect(await searches('meter', 'value')).toBe('0');
  expect(await searches('.limit-frees')).toMatch(/^waits until \d\d:\d\d:\d\d$/);
  await shows('4 in 15 min');

  const settings = join(workspace.folder, '.vscode', 'settings.json');
  mkdirSync(join(workspace.folder, '.vscode'), { recursive: true });
  for (const [className, theme] of Object.entries(THEMES)) {
    writeFileSync(settings, JSON.stringify({ 'workbench.colorTheme': theme }));
    const frame = await dashboardFrame(page);
    await until(theme, () => frame.evaluate(`document.body.classList.contains('${className}')`));
    await frame.evaluate(axe.source);
    const found = (await frame.evaluate(
      'axe.run({ resultTypes: ["violations"] }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + " " + html)))',
    )) as string[];
    expect(found, theme).toEqual([]);
    await window.screenshot(`dashboard-${className}`);
    if (process.env.WAYGATE_RECORD_THEMES) {
      const text = await frame.evaluate(`document.documentElement.getAttribute('style')`);
      writeFileSync(join(process.env.WAYGATE_RECORD_THEMES, `${className}.style`), String(text));
    }
  }

  // The restored tab behind another one is not shown, so VS Code has not asked the extension for it.
  await page.locator('.explorer-folders-view .monaco-list-row', { hasText: 'README.md' }).click();
  await until('the document', async () => (await page.locator('.tab.active').innerText()).includes('README'));
  await page.reload();
  await until('the restored tab', async () => (await dashboards(page)) === 1);
  await openDashboard(page);
  await dashboardFrame(page);
  await until('one dashboard', async () => (await dashboards(page)) === 1);
  await openDashboard(page);
  expect(await dashboards(page)).toBe(1);
}, 240_000);
