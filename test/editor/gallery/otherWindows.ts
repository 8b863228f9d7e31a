import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'vitest';
import { workersOf } from '../../support/census.ts';
import { servers } from '../../support/workspace.ts';
import { olderWorker, withoutMcp } from '../harness/alterations.ts';
import { running } from './shopServers.ts';
import { connectAgent, openTour, tourWorkspace } from './tour.ts';

/** Windows in other surroundings. */
export function otherWindows(): void {
  it('a healthy gateway without calls, with some, and lost', async () => {
    const workspace = tourWorkspace(() => ({}));
    workspace.approve();
    const tour = await openTour(workspace);
    const { page, camera, run, shows, row } = tour;
    await tour.openViews();
    await row('Tools', 'filesystem', / tokens\b/);
    await run('Waygate: Open Dashboard');
    await shows('38 tools');
    await camera.take('dashboard-empty');
    for (const view of ['Activity', 'Results'] as const) {
      await tour.only(view);
      await camera.take(`${view.toLowerCase()}-empty`);
    }
    await tour.only('Tools');
    const agent = await connectAgent(workspace, 'claude-code');
    for (const query of ['read a file', 'remember a person', 'add numbers']) await agent.call('tool_browse', { query });
    for (let turn = 0; turn < 4; turn++)
      await agent.call('tool_execute', {
        tool_id: 'filesystem:read_text_file',
        args: { path: join(workspace.folder, 'files', 'orders.csv') },
      });
    await agent.call('tool_execute', { tool_id: 'memory:read_graph', args: {} });
    await shows('read_text_file');
    await tour.window.expand('Tools', 'filesystem');
    // As a new window has it: Activity is open below Tools.
    const header = page.locator('.pane-header[aria-label^="Activity Section"]').first();
    await header.click();
    await row('Activity', 'read_graph');
    const { x, y } = (await header.boundingBox()) ?? { x: 0, y: 0 };
    await page.mouse.move(x + 100, y);
    await page.mouse.down();
    await page.mouse.move(x + 100, 600, { steps: 4 });
    await page.mouse.up();
    await camera.take('dashboard-ready');
    // The next worker cannot start, and the agent would start one of this tree.
    agent.child.kill('SIGKILL');
    for (const file of globSync('extensions/waygate.waygate-*/dist/worker.cjs', { cwd: tour.data }))
      rmSync(join(tour.data, file));
    for (const pid of await workersOf(workspace)) process.kill(pid, 'SIGKILL');
    await page.locator('.statusbar-item .codicon-debug-disconnect').first().waitFor();
    await shows('Not running');
    await camera.take('dashboard-lost');
  });

  it('several folders', async () => {
    const workspace = tourWorkspace(() => ({}));
    workspace.approve();
    const api = join(workspace.folder, '..', 'api');
    mkdirSync(join(api, '.vscode'), { recursive: true });
    writeFileSync(join(api, '.vscode', 'waygate.json'), JSON.stringify({ servers: { second: servers.fixture() } }));
    const workspaceFile = join(workspace.folder, '..', 'both.code-workspace');
    writeFileSync(workspaceFile, JSON.stringify({ folders: [{ path: 'workspace' }, { path: 'api' }] }));
    const tour = await openTour(workspace, { workspaceFile });
    const { page, camera, run, row } = tour;
    await tour.openViews();
    await row('Tools', 'filesystem', / tokens\b/);
    await row('Tools', 'second', /needs approval/);
    await camera.take('folders-rows');
    await run('Waygate: Open Dashboard');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'api' }).first().waitFor();
    await camera.take('folders-choose');
    await page.keyboard.press('Escape');
  });

  it('a folder without a configuration, and none', async () => {
    const workspace = tourWorkspace(() => ({}));
    rmSync(workspace.configFile);
    const bare = await openTour(workspace);
    await bare.openViews();
    await bare.page
      .locator('.pane-body a.monaco-button, .pane-body .monaco-button', { hasText: 'Import' })
      .first()
      .waitFor();
    await bare.camera.take('welcome-no-configuration');
    const empty = await openTour(workspace, { isEmpty: true });
    await empty.openViews();
    await empty.page.locator('.pane-body', { hasText: 'Waygate works in a folder' }).first().waitFor();
    await empty.camera.take('welcome-no-folder');
  });

  it('a workspace that is not trusted', async () => {
    const workspace = tourWorkspace(() => ({}));
    const tour = await openTour(workspace, { asksForTrust: true });
    await tour.openViews();
    await tour.page.locator('.pane-body', { hasText: 'This workspace is not trusted' }).first().waitFor();
    await tour.camera.take('welcome-untrusted');
  });

  it('an editor without the API for MCP servers, and a question that nobody answers', async () => {
    const workspace = tourWorkspace(running);
    workspace.approve();
    Object.assign(workspace.env, { WAYGATE_QUESTION_MS: '3000' });
    const { page, camera, openViews, row, run, only } = await openTour(workspace, { alter: withoutMcp });
    await openViews();
    await row('Tools', 'shop', / tokens\b/);
    await page.locator('.pane-body', { hasText: 'accepts no MCP servers' }).first().waitFor();
    await camera.take('tools-without-mcp');
    const agent = await connectAgent(workspace, 'claude-code');
    await agent.call('tool_execute', { tool_id: 'shop:customer_delete', args: { id: 7, reason: 'asked' } });
    await only('Activity');
    await run('Notifications: Show Notifications');
    const late = page.locator('.notifications-center .notification-list-item', { hasText: 'nobody answered' }).first();
    await late.hover();
    // The first line alone does not hold the sentence.
    await late.locator('.codicon-notifications-expand').click();
    await late.locator('.codicon-notifications-collapse').waitFor();
    await camera.take('question-late');
  });

  it('a gateway of an older build', async () => {
    const workspace = tourWorkspace(() => ({}));
    workspace.approve();
    const { page, camera, openViews, row, run, shows, only } = await openTour(workspace, { alter: olderWorker });
    await openViews();
    await row('Tools', 'filesystem', / tokens\b/);
    await only('Activity');
    await page.locator('.pane-body', { hasText: 'older than this extension' }).first().waitFor();
    await run('Waygate: Open Dashboard');
    await shows('older build');
    await camera.take('dashboard-older');
  });
}
