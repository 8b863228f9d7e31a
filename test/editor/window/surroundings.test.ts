import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { workersOf } from '../../support/census.ts';
import { until } from '../../support/hostProcess.ts';
import { servers, type TestWorkspace, testWorkspace } from '../../support/workspace.ts';
import { withoutMcp } from '../harness/alterations.ts';
import { workbench } from '../harness/workbench.ts';
import { openWindow } from './openWindow.ts';

const SCREENSHOTS = join('.out', 'screenshots');

function configured(): TestWorkspace {
  const workspace = testWorkspace();
  workspace.write('.vscode/waygate.json', JSON.stringify({ servers: { files: servers.fixture() } }));
  return workspace;
}

async function openTools(page: Page): Promise<void> {
  await page.locator('.activitybar .action-item:has(a[aria-label^="Waygate"])').click();
}

/** Returns the sentence that the view *Tools* shows instead of rows, or above them. */
async function sentence(page: Page, start: string): Promise<string> {
  const place = page.locator('.pane-body', { hasText: start }).first();
  await place.waitFor();
  return (await place.innerText()).replace(/\s+/g, ' ');
}

describe('an ordinary window', () => {
  it('says what to do if no folder is open', async () => {
    const page = await openWindow(configured(), { isEmpty: true });
    await openTools(page);
    const text = await sentence(page, 'Waygate works in a folder');
    expect(text).toContain('Waygate works in a folder on the machine that holds your code. Open a folder to use it.');
    expect(await page.locator('.statusbar-item:visible:has-text("Waygate")').count()).toBe(0);
    await workbench(page, SCREENSHOTS).screenshot('no-folder');
  });

  it('starts nothing in a workspace that is not trusted, and says so', async () => {
    const workspace = configured();
    const page = await openWindow(workspace, { asksForTrust: true });
    await openTools(page);
    const text = await sentence(page, 'This workspace is not trusted');
    expect(text).toContain('This workspace is not trusted, so Waygate starts none of its servers.');
    const item = page.locator('.statusbar-item:has-text("Waygate") a');
    expect(await item.getAttribute('aria-label')).toContain('until you trust this workspace');
    expect(await workersOf(workspace)).toEqual([]);
    await workbench(page, SCREENSHOTS).screenshot('untrusted');
  });

  it('serves other clients and says what is missing in an editor without the API for MCP servers', async () => {
    const workspace = configured();
    workspace.approve();
    const page = await openWindow(workspace, { alter: withoutMcp });
    await openTools(page);
    const window = workbench(page, SCREENSHOTS);
    await until('the rows', async () => (await window.rows('Tools')).some(({ label }) => label === 'files'));
    expect(await sentence(page, 'accepts no MCP servers')).toContain(
      "This editor accepts no MCP servers from extensions: its agent sees Waygate only if you add Waygate to the editor's own MCP configuration.",
    );
    await window.screenshot('without-mcp');
  });
});
