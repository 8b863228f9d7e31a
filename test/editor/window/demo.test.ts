import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { writeDemoWorkspace } from '../../../scripts/lib/demo.mjs';
import { until } from '../../support/hostProcess.ts';
import { testWorkspace } from '../../support/workspace.ts';
import { workbench } from '../harness/workbench.ts';
import { openWindow } from './openWindow.ts';

it('the demo opens with its README, the tools of its servers and the dashboard, and nothing to find first', async () => {
  const workspace = testWorkspace();
  writeDemoWorkspace(resolve('.'), workspace.folder);
  workspace.approve();
  const page = await openWindow(workspace, { demo: true });
  const window = workbench(page, join('.out', 'screenshots'));
  const rows = await until('the servers', async () => {
    const labels = (await window.rows('Tools')).map(({ label }) => label);
    return labels.length >= 3 && labels;
  });
  expect(rows).toEqual(expect.arrayContaining(['everything', 'filesystem', 'memory']));
  const tabs = await until('the tabs', async () => {
    const labels = await page.locator('.tab .label-name').allInnerTexts();
    return labels.length >= 2 && labels;
  });
  expect(tabs).toEqual(['Preview README.md', 'Waygate']);
  const texts = (): Promise<string[]> =>
    Promise.all(page.frames().map((frame) => frame.evaluate('document.body.innerText').then(String, () => '')));
  const shows = (words: string) => until(words, async () => (await texts()).some((text) => text.includes(words)));
  await shows("Waygate's demo");
  await shows(`node ${resolve('dist/waygate.cjs')} browse "read a file"`);
  await shows('38 tools from 3 servers.');
  await window.screenshot('demo');
  // The other half of the demo needs no agent.
  await window.expand('Tools', 'filesystem');
  await window.clickRowAction('Tools', 'read_text_file', 'Try Tool');
  await shows('declared read-only');
  await window.fillInFrame('#form textarea', join(workspace.folder, 'files', 'welcome.txt'));
  await shows('Arguments are valid');
  await window.clickInFrame('#run');
  await shows('This text came through Waygate from the filesystem server.');
  await window.screenshot('demo-try');
});
