import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { until } from '../../support/hostProcess.ts';
import { type OrdinaryWindow, writeSettings } from '../harness/ordinaryWindow.ts';

/** Themes of VS Code itself, one of each kind, with the classes that VS Code gives the workbench and its pages. */
export const THEMES = {
  dark: { name: 'Default Dark Modern', workbench: 'vs-dark', page: 'vscode-dark' },
  light: { name: 'Default Light Modern', workbench: 'vs', page: 'vscode-light' },
  'hc-dark': { name: 'Default High Contrast', workbench: 'hc-black', page: 'vscode-high-contrast' },
  'hc-light': { name: 'Default High Contrast Light', workbench: 'hc-light', page: 'vscode-high-contrast-light' },
} as const;
type Theme = keyof typeof THEMES;

export const GALLERY = join('.out', 'gallery');

/** Place where the pointer shows nothing. */
const NOWHERE = [700, 895] as const;
/** Time in which a hover that has been left goes. */
const FADE_MS = 1_000;

/** Takes pictures of states in every theme. */
export class Camera {
  readonly #window: OrdinaryWindow;
  /** Writes settings into the open folder or workspace, which VS Code follows. */
  readonly #apply: ((settings: object) => void) | undefined;
  #theme: Theme | undefined;

  constructor(window: OrdinaryWindow, apply: ((settings: object) => void) | undefined) {
    this.#window = window;
    this.#apply = apply;
    mkdirSync(GALLERY, { recursive: true });
  }

  /**
   * Saves the present state of the window as `STATE.THEME.png`, `state` beginning with the name of the view. `show` brings
   * back what a change of the theme puts away, such as a hover.
   */
  async take(state: string, show?: () => Promise<void>): Promise<void> {
    const others = (Object.keys(THEMES) as Theme[]).filter((theme) => theme !== this.#theme);
    // A change of the theme takes longer than a picture.
    for (const theme of this.#theme ? [this.#theme, ...others] : others) {
      await this.#window.page.mouse.move(...NOWHERE);
      await this.use(theme);
      await this.#leaveHovers();
      await show?.();
      // A menu that has just opened is half transparent until its animation ends.
      const path = join(GALLERY, `${state}.${theme}.png`);
      await this.#window.page.screenshot({ path, animations: 'disabled' });
    }
  }

  /** Saves a page of the browser, to which the user's system gives the colours. */
  async takePage(state: string, page: Page): Promise<void> {
    for (const theme of Object.keys(THEMES) as Theme[]) {
      const colorScheme = theme.endsWith('dark') ? 'dark' : 'light';
      await page.emulateMedia({ colorScheme, forcedColors: theme.startsWith('hc') ? 'active' : 'none' });
      await page.screenshot({ path: join(GALLERY, `${state}.${theme}.png`) });
    }
  }

  /** Puts away hovers. One whose row was redrawn stays in VS Code until there is another. */
  async #leaveHovers(): Promise<void> {
    const { page } = this.#window;
    const hover = page.locator('.monaco-hover:visible').first();
    const other = await page.locator('.activitybar .action-item').first().boundingBox();
    await until('an end of the hover', async () => {
      await page.mouse.move(...NOWHERE);
      const isHidden = await hover.waitFor({ state: 'hidden', timeout: FADE_MS }).then(
        () => true,
        () => false,
      );
      if (isHidden || other === null) return isHidden;
      await page.mouse.move(other.x + other.width / 2, other.y + other.height / 2);
      await page.locator('.monaco-hover:has-text("Explorer")').first().waitFor();
      return false;
    });
  }

  async use(theme: Theme): Promise<void> {
    if (theme === this.#theme) return;
    const { page, settingsFile } = this.#window;
    const settings = { 'workbench.colorTheme': THEMES[theme].name };
    if (this.#apply) this.#apply(settings);
    else {
      // In a browser, VS Code reads the user's settings only at its start.
      writeSettings(settingsFile, settings);
      await page.reload();
    }
    await until(`the theme ${theme}`, () => isShown(page, theme));
    this.#theme = theme;
  }
}

/** Returns whether the window and all its pages have a theme. A page that VS Code has put away keeps the former. */
async function isShown(page: Page, theme: Theme): Promise<boolean> {
  const has = `document.querySelector('.monaco-workbench')?.classList.contains('${THEMES[theme].workbench}')`;
  if (!(await page.evaluate(has))) return false;
  const classes = await Promise.all(
    page
      .frames()
      .map((frame) =>
        frame
          .evaluate<string>(`document.visibilityState === 'visible' && innerWidth > 0 ? document.body.className : ''`)
          .catch(() => ''),
      ),
  );
  return classes.every((names) => {
    const own = names.split(' ').filter((name) => name.startsWith('vscode-') && PAGE_CLASSES.has(name));
    return own.length === 0 || own.includes(THEMES[theme].page);
  });
}

const PAGE_CLASSES: ReadonlySet<string> = new Set(Object.values(THEMES).map(({ page }) => page));
