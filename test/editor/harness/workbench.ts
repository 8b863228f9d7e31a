import { createDecipheriv } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { FrameLocator, Locator, Page } from 'playwright-core';
import type { DriverMethods, StatusBarItem, TreeRow } from './driverProtocol.ts';

type Answers = {
  [M in keyof DriverMethods]: (...args: Parameters<DriverMethods[M]>) => Promise<ReturnType<DriverMethods[M]>>;
};

/** Limit for a row that VS Code draws again and again. */
const CLICK_LIMIT_MS = 10_000;
const MENU_LIMIT_MS = 30_000;
const LENS_MS = 3_000;
/** Longer than the time between two redraws of a tree. */
const SETTLED_MS = 300;

const oneLine = (text: string | null): string => (text ?? '').replace(/\s+/g, ' ').trim();

/** Accesses VS Code's window through its DOM. Only this file knows its class names. */
export function workbench(page: Page, screenshots: string): Answers {
  mkdirSync(screenshots, { recursive: true });

  const pane = (view: string): Locator =>
    page
      .locator('.pane', { has: page.locator(`.pane-header[aria-label^=${JSON.stringify(`${view} Section`)}]`) })
      .first();

  const row = (view: string, label: string): Locator =>
    pane(view)
      .locator('.monaco-list-row')
      .filter({ has: page.locator('.label-name').getByText(label, { exact: true }) })
      .first();

  /** A hidden webview stays in the page; the visible one is painted. */
  async function frame(): Promise<FrameLocator> {
    const outer = page.locator('iframe.webview.ready').filter({ visible: true });
    await outer.last().waitFor();
    return outer.last().contentFrame().frameLocator('#active-frame');
  }

  return {
    async log(line) {
      console.log(line);
    },

    async screenshot(name) {
      const path = join(screenshots, `${name.replace(/[^\w-]+/g, '-').slice(0, 100)}.png`);
      await page.screenshot({ path });
      return path;
    },

    async picture(name) {
      const title = await page.locator('.part.titlebar').boundingBox();
      const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
      const y = title?.height ?? 0;
      const path = join(screenshots, `${name}.png`);
      // A place where the pointer triggers nothing.
      await page.mouse.move(width - 1, height / 2);
      await page.screenshot({ path, ...(width ? { clip: { x: 0, y, width, height: height - y } } : {}) });
      return path;
    },

    async rows(view) {
      const found = await pane(view)
        .locator('.monaco-list-row')
        .evaluateAll((elements) =>
          elements.map((element) => ({
            index: Number(element.getAttribute('data-index')),
            label: element.querySelector('.label-name')?.textContent ?? '',
            description: element.querySelector('.label-description')?.textContent ?? '',
            depth: Number(element.getAttribute('aria-level')),
            expanded: element.getAttribute('aria-expanded'),
          })),
        );
      return found
        .sort((a, b) => a.index - b.index)
        .map(
          ({ label, description, depth, expanded }): TreeRow => ({
            label: oneLine(label),
            description: oneLine(description),
            depth,
            ...(expanded === null ? {} : { expanded: expanded === 'true' }),
          }),
        );
    },

    async expand(view, label) {
      const target = row(view, label);
      if ((await target.getAttribute('aria-expanded')) === 'true') return;
      await target.locator('.monaco-tl-twistie').click();
      await target.and(page.locator('[aria-expanded="true"]')).waitFor();
    },

    async clickRow(view, label) {
      await row(view, label).click();
    },

    async clickRowAction(view, label, action) {
      const target = row(view, label);
      const button = `.action-label[aria-label^=${JSON.stringify(action)}]`;
      const deadline = Date.now() + CLICK_LIMIT_MS;
      // Again where VS Code has redrawn, reused or moved the row after the pointer came to it.
      do {
        if (Date.now() > deadline) throw new Error(`The row of ${label} showed no button ${action}.`);
        await target.hover();
      } while (!(await target.evaluate(clickIn, { label, button })));
    },

    async chooseFromRowMenu(view, label, item) {
      const entry = page.locator('.monaco-menu').getByRole('menuitem', { name: item, exact: true });
      const deadline = Date.now() + MENU_LIMIT_MS;
      do {
        if (Date.now() > deadline) throw new Error(`The menu of ${label} took no click on ${item}.`);
        // The tooltip of the row under the mouse may cover this row.
        await page.mouse.move(1, 1);
        await page.keyboard.press('Escape');
        await page.locator('.context-view .monaco-hover').waitFor({ state: 'hidden' });
        await settled(pane(view));
        await row(view, label).click({ button: 'right' });
        // An editor that opens and takes the focus closes the menu before the click.
      } while (!(await clickEntry(page, entry)));
    },

    async click(selector) {
      await page.locator(selector).first().click();
    },

    async hover(selector) {
      await page.locator(selector).first().hover();
    },

    async waitFor(selector) {
      const target = page.locator(selector).first();
      if (selector.includes('codelens')) await target.waitFor({ timeout: LENS_MS }).catch(() => layOut(page));
      await target.waitFor();
    },

    async press(key) {
      await page.keyboard.press(key);
    },

    async type(text) {
      await page.keyboard.type(text);
    },

    async texts(selector) {
      return (await page.locator(selector).filter({ visible: true }).allInnerTexts()).map(oneLine);
    },

    async browserPages() {
      const others = browserPages(page);
      return Promise.all(others.map(async (other) => oneLine(await other.locator('body').innerText())));
    },

    async closeBrowserPages() {
      for (const other of browserPages(page)) await other.close();
    },

    async secretNames(extension) {
      // A desktop's store is a database behind the system's keychain.
      if (!page.url().startsWith('http')) return undefined;
      const sealed = await page.evaluate(() => globalThis.localStorage.getItem('secrets.provider'));
      return sealed === null ? [] : namesOfSecrets(page, sealed, extension);
    },

    async statusBar() {
      const items = await page.locator('.statusbar-item').evaluateAll((elements) =>
        elements
          .filter((element) => element.getClientRects().length > 0)
          .map((element) => ({
            text: element.textContent,
            label:
              element.getAttribute('aria-label') ?? element.querySelector('[aria-label]')?.getAttribute('aria-label'),
          })),
      );
      return items.map(({ text, label }): StatusBarItem => ({ text: oneLine(text), label: oneLine(label ?? '') }));
    },

    async notifications() {
      // Under tests VS Code shows no toasts; notifications wait behind the bell.
      const bell = page.locator('#status\\.notifications');
      const centre = page.locator('.notifications-center.visible');
      await bell.click();
      await centre.waitFor();
      const texts = await centre.locator('.notification-list-item-message').allTextContents();
      await bell.click();
      await centre.waitFor({ state: 'hidden' });
      return texts.map(oneLine);
    },

    async frameText() {
      const texts = await (await frame()).locator('body').allInnerTexts();
      return texts.join('\n');
    },

    async frameHtml() {
      return (await frame()).locator('body').innerHTML();
    },

    async clickInFrame(selector) {
      await (await frame()).locator(selector).first().click();
    },

    async fillInFrame(selector, text) {
      await (await frame()).locator(selector).first().fill(text);
    },

    async axeInFrame() {
      const body = (await frame()).locator('body');
      await body.evaluate(AXE);
      return body.evaluate(VIOLATIONS);
    },
  };
}

/** Waits until a tree is not redrawn. A command of its menus gets no row meanwhile. */
async function settled(tree: Locator): Promise<void> {
  let text = await tree.innerText();
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
    const now = await tree.innerText();
    if (now === text) return;
    text = now;
  }
}

/** Clicks an entry, and returns whether the click reached it and its menu is gone. */
async function clickEntry(page: Page, entry: Locator): Promise<boolean> {
  if (!(await entry.evaluate(watchClicks, undefined, { timeout: 2_000 }).catch(() => false))) return false;
  // VS Code ignores a click within 100 ms after it has drawn the menu.
  await entry.click({ delay: 100, timeout: 5_000 }).catch(() => undefined);
  return (await isHidden(entry)) && page.evaluate(CLICKED);
}

/** Runs in the page. */
function watchClicks(entry: PageElement): boolean {
  const seen = globalThis as { waygateClicked?: boolean };
  seen.waygateClicked = false;
  entry.addEventListener('mouseup', () => {
    seen.waygateClicked = true;
  });
  return entry.isConnected;
}

const CLICKED = 'globalThis.waygateClicked === true';

/** Makes VS Code draw lenses that it skipped because their editor was not drawn yet, as on a busy machine. */
async function layOut(page: Page): Promise<void> {
  const size = page.viewportSize();
  if (size === null) return;
  await page.setViewportSize({ ...size, height: size.height - 20 });
  await page.setViewportSize(size);
}

/** Waits for the end of a menu, for a short time. */
function isHidden(entry: Locator): Promise<boolean> {
  return entry.waitFor({ state: 'hidden', timeout: 5_000 }).then(
    () => true,
    () => false,
  );
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Expression for the page. The debugger may evaluate it in spite of the page's policy. */
const VIOLATIONS = `axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
  violations.flatMap(({ id, nodes }) => nodes.map(({ html, any }) => id + ': ' + html + ' ' + (any[0]?.message ?? ''))))`;

interface PageElement {
  isConnected: boolean;
  textContent: string | null;
  querySelector(selector: string): PageElement | null;
  getClientRects(): { length: number };
  addEventListener(event: string, listener: () => void): void;
  click?(): void;
}

/** Runs in the page. Clicks the button if it is visible and the element is still the row with this label. */
function clickIn(row: PageElement, { label, button }: { label: string; button: string }): boolean {
  const shown = row.querySelector('.label-name')?.textContent?.replace(/\s+/g, ' ').trim();
  const found = row.isConnected && shown === label ? row.querySelector(button) : null;
  if (!found || found.getClientRects().length === 0) return false;
  found.click?.();
  return true;
}

function browserPages(page: Page): Page[] {
  return page
    .context()
    .pages()
    .filter((other) => other !== page);
}

/** The browser's store is encrypted. Decrypts it as the workbench does; half of the key comes from the server. */
async function namesOfSecrets(page: Page, sealed: string, extension: string): Promise<string[]> {
  const half = await (await page.request.post(new URL('/mint-key', page.url()).href)).body();
  const bytes = Buffer.from(sealed, 'base64');
  const key = bytes.subarray(0, 32).map((byte, index) => byte ^ (half[index] as number));
  const cipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(32, 44)).setAuthTag(bytes.subarray(-16));
  const text = cipher.update(bytes.subarray(44, -16), undefined, 'utf8') + cipher.final('utf8');
  return Object.keys(JSON.parse(text) as object)
    .map((name) => JSON.parse(name) as { extensionId?: string; key: string })
    .filter(({ extensionId }) => extensionId === extension)
    .map(({ key }) => key);
}
