import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { writeDemoWorkspace } from '../../../scripts/lib/demo.mjs';
import { HostProcess, until } from '../../support/hostProcess.ts';
import { type TestWorkspace, testWorkspace } from '../../support/workspace.ts';
import { runCommand } from '../harness/palette.ts';
import { workbench } from '../harness/workbench.ts';
import { openWholeWindow } from '../window/openWindow.ts';
import { Camera, GALLERY } from './themes.ts';

const VIEWS = ['Tools', 'Activity', 'Results', 'Records'] as const;
type View = (typeof VIEWS)[number];

export interface Tour {
  workspace: TestWorkspace;
  page: Page;
  window: ReturnType<typeof workbench>;
  camera: Camera;
  /** Folder with the installed extension. */
  data: string;
  /** Shows the views, with room for whole rows. */
  openViews(): Promise<void>;
  /** Runs a command from the palette, as a user does. */
  run(title: string): Promise<void>;
  /** Waits until the row of a view has a description. */
  row(view: string, label: string, description?: RegExp): Promise<void>;
  /** Row of a view by its whole label. */
  rowOf(view: string, label: string): Locator;
  /** Puts the pointer on a place until VS Code shows a hover with words there. A row that is redrawn loses its hover. */
  hover(place: Locator, words: string): Promise<void>;
  /** Fills the input of the list that is open, and waits for a row with words. */
  find(text: string, words: string): Promise<void>;
  /** Waits until the visible page shows words. */
  shows(words: string | RegExp): Promise<string>;
  /** Puts aside lists, menus and hovers, and closes all editors. */
  tidy(): Promise<void>;
  /** Approves all servers, for a test that runs alone. */
  approved(): Promise<void>;
  /** Closes and opens the sections of the sidebar, so that one view has the room. */
  only(view: View): Promise<void>;
}

/** Workspace with the servers of the demo and with more. */
export function tourWorkspace(
  more: (workspace: TestWorkspace) => Record<string, object>,
  blocks: object = {},
): TestWorkspace {
  const workspace = testWorkspace();
  writeDemoWorkspace(resolve('.'), workspace.folder);
  const { servers } = JSON.parse(readFileSync(workspace.configFile, 'utf8')) as { servers: Record<string, object> };
  const all = { ...servers, ...more(workspace) };
  writeFileSync(workspace.configFile, `${JSON.stringify({ servers: all, ...blocks }, null, 2)}\n`);
  // Servers of the pictures stay, however long a picture takes.
  Object.assign(workspace.env, { WAYGATE_LINGER_MS: '60000' });
  // Pictures show walls, as a reader's servers have them.
  delete workspace.env.WAYGATE_WALLS;
  return workspace;
}

/** Limit for a click or a query in the window, on a machine that does other work. */
const ACTION_LIMIT_MS = 60_000;

/** Pixels. The usual 300 cut the description of most rows. */
const VIEWS_WIDTH = 430;
const HOVER_LIMIT_MS = 4_000;

/** Opens a window with the installed extension. */
export async function openTour(
  workspace: TestWorkspace,
  options: Parameters<typeof openWholeWindow>[1] = {},
): Promise<Tour> {
  const opened = await openWholeWindow(workspace, options);
  const { page } = opened;
  page.setDefaultTimeout(ACTION_LIMIT_MS);
  const window = workbench(page, GALLERY);
  const header = (view: string): Locator => page.locator(`.pane-header[aria-label^="${view} Section"]`);
  const tour: Tour = {
    workspace,
    page,
    window,
    data: opened.data,
    camera: new Camera(opened, applies(options.isEmpty ? opened.data : workspace, options.workspaceFile)),
    async openViews() {
      await page.locator('.activitybar .action-item:has(a[aria-label^="Waygate"])').click();
      const { x, y, width, height } = (await page.locator('.part.sidebar').boundingBox()) ?? {
        x: 0,
        y: 0,
        width: 0,
        height: 0,
      };
      await page.mouse.move(x + width, y + height / 2);
      await page.mouse.down();
      await page.mouse.move(x + VIEWS_WIDTH, y + height / 2, { steps: 4 });
      await page.mouse.up();
    },
    run: (title) => runCommand(page, title),
    async row(view, label, description = /./) {
      await until(`the row ${label}`, async () =>
        (await window.rows(view)).some((one) => one.label === label && description.test(one.description)),
      );
    },
    rowOf: (view, label) =>
      page
        .locator('.pane', { has: header(view) })
        .locator('.monaco-list-row')
        .filter({ has: page.locator('.label-name').getByText(label, { exact: true }) })
        .first(),
    async hover(place, words) {
      const shown = page.locator(`.monaco-hover:has-text(${JSON.stringify(words)})`).first();
      await until(`the hover with ${words}`, async () => {
        await page.mouse.move(700, 895);
        await place.hover();
        return shown.waitFor({ timeout: HOVER_LIMIT_MS }).then(
          () => true,
          () => false,
        );
      });
    },
    async find(text, words) {
      await page.locator('.quick-input-widget .quick-input-box input').first().fill(text);
      await page.locator('.quick-input-list .monaco-list-row', { hasText: words }).first().waitFor();
    },
    shows: (words) =>
      until(String(words), async () => {
        const text = await window.frameText().catch(() => '');
        return (typeof words === 'string' ? text.includes(words) : words.test(text)) && text;
      }),
    async tidy() {
      await page.mouse.move(700, 895);
      for (let time = 0; time < 3; time++) await page.keyboard.press('Escape');
      await tour.run('View: Close All Editors');
      const discard = page.locator('.monaco-dialog-box .monaco-button', { hasText: "Don't Save" });
      if (await discard.isVisible()) await discard.click();
      await tour.run('Notifications: Clear All Notifications');
      await page.locator('.quick-input-widget').waitFor({ state: 'hidden' });
    },
    async approved() {
      // The rows come some time after the window.
      await tour.row('Tools', 'filesystem');
      if ((await window.rows('Tools')).some(({ description }) => description.startsWith('needs approval'))) {
        workspace.approve();
        await tour.run('Waygate: Refresh Catalogs');
      }
      await tour.only('Tools');
      await tour.row('Tools', 'filesystem', / tokens\b/);
      // Rows move when the news of a refresh leave.
      await page
        .locator('.tree-explorer-viewlet-tree-view .message', { hasText: /changed|added/ })
        .waitFor({ state: 'hidden' });
    },
    async only(view) {
      for (const one of VIEWS) {
        const isOpen = (await header(one).getAttribute('aria-expanded')) === 'true';
        if (isOpen !== (one === view)) await header(one).click();
      }
    },
  };
  return tour;
}

/** Returns how to set the theme of a folder, of a workspace of several, or of a machine whose window has no folder. */
function applies(place: TestWorkspace | string, workspaceFile: string | undefined): (settings: object) => void {
  if (typeof place === 'string') {
    // In a browser, VS Code reads the user's settings only at its start.
    const file = join(place, 'data', 'Machine', 'settings.json');
    mkdirSync(dirname(file), { recursive: true });
    return (settings) => writeFileSync(file, JSON.stringify(settings));
  }
  if (workspaceFile === undefined)
    return (settings) => writeFileSync(join(place.folder, '.vscode', 'settings.json'), JSON.stringify(settings));
  const { folders } = JSON.parse(readFileSync(workspaceFile, 'utf8')) as { folders: unknown };
  return (settings) => writeFileSync(workspaceFile, JSON.stringify({ folders, settings }));
}

/** Connects an agent that has a name. */
export async function connectAgent(workspace: TestWorkspace, name: string): Promise<HostProcess> {
  const agent = new HostProcess(workspace);
  await agent.initialize({ clientInfo: { name, version: '1.0.0' } });
  return agent;
}
