import { readFileSync } from 'node:fs';
import axe from 'axe-core';
import type { Page } from 'playwright-core';

type Variables = Readonly<Record<string, string>>;

/**
 * Colours that VS Code 1.139 gives a page, by the class that it has in each kind of theme.
 * `test/editor/window/dashboard.test.ts` records them.
 */
const THEMES = JSON.parse(readFileSync('test/webview/themes.json', 'utf8')) as Record<string, Variables>;

const THEME_NAMES: readonly string[] = Object.keys(THEMES);

/** Gives a page the class and the colours of a theme, as VS Code does. */
async function showTheme(page: Page, name: string): Promise<void> {
  await page.evaluate(`
    document.body.className = ${JSON.stringify(name)};
    document.documentElement.removeAttribute('style');
    for (const [name, value] of Object.entries(${JSON.stringify(THEMES[name])}))
      document.documentElement.style.setProperty(name, value);
  `);
}

/** Returns what axe finds in a page as it is now. */
async function axeViolations(page: Page): Promise<string[]> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source);
  return page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html, any }) =>
      id + ': ' + html.slice(0, 200) + ' ' + (any[0]?.message ?? ''))))`);
}

/** Returns what axe finds in a page in each theme, by its name; a theme without a violation is left out. */
export async function axeInThemes(page: Page): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const name of THEME_NAMES) {
    await showTheme(page, name);
    const violations = await axeViolations(page);
    if (violations.length > 0) found[name] = violations;
  }
  return found;
}
