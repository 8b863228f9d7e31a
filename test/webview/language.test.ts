import { readFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DashboardState } from '../../src/control/dashboardMessages.ts';
import type { TableState } from '../../src/control/tableMessages.ts';
import type { TriedTool } from '../../src/control/tryMessages.ts';
import { languageOfPages, speak } from '../../src/extension/l10n.ts';
import { filled } from '../../src/text/messages.ts';
import { BROWSER, launchBrowser, openPage, pageFiles } from '../support/webPages.ts';

const BUNDLE = JSON.parse(readFileSync('l10n/bundle.l10n.json', 'utf8')) as Record<string, string>;
/** Language in which every text stands in brackets, with marks that markup must escape. */
const PSEUDO = Object.fromEntries(Object.entries(BUNDLE).map(([message, text]) => [message, `[${text} &<b>"]`]));

/** Texts of the worker and names of servers without letters, so that every letter on a page is one of its own. */
const DASHBOARD: DashboardState = {
  workspace: '/1',
  refreshing: false,
  live: true,
  needs: [{ id: '1', glyph: 'warning', subject: '2', words: '3', quotes: [{ about: '4', quote: '5' }], buttons: [] }],
  now: { level: 'ready', words: '1', headline: '2', figures: [], lines: ['3'] },
  limits: {
    rows: [{ id: '1', name: '2', of: '3', limit: 4, left: 5, words: '6', frees: '7', isMet: false }],
    buttons: [],
  },
  servers: {
    summary: '1',
    rows: [
      {
        ...{ name: '1', glyph: 'check', state: '2', tools: '3', tokens: '4', calls: '5', p95: '6', restarts: '7' },
        ...{ lastUsed: '8', buttons: [], details: [{ term: '9', text: '1' }], stderr: ['2'] },
        place: { action: 'openServer', subject: '1', label: '1' },
      },
    ],
  },
  tools: [{ toolId: '1', namespace: '2', name: '3', calls: 4, errors: 5, p95Ms: 6, tokensSaved: 7 }],
};
const TABLE: TableState = {
  ...{ title: '1', query: { start: 1 }, columns: ['2', ''], rows: [['3', '4']], total: 5, wrangler: true },
};
const TOOL: TriedTool = {
  ...{ folder: '1', toolId: '2', name: '3', description: '4', server: '5', safety: 'destructive' },
  schema: {
    type: 'object',
    required: ['1', '2', '3'],
    properties: {
      1: { type: ['integer', 'null'], minimum: 1, maximum: 9, default: 3 },
      2: { type: 'array', items: { type: 'string' }, minItems: 2 },
      3: { enum: ['1', '2'] },
      4: { type: 'string', maxLength: 5, pattern: '1' },
    },
  },
};

/** Runs in the page: every text that a reader sees or hears, without translated ones. */
const UNTRANSLATED = `(() => {
  const texts = [document.title];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (!/SCRIPT/.test(walker.currentNode.parentElement.tagName)) texts.push(walker.currentNode.data);
  for (const one of document.querySelectorAll('*'))
    for (const name of ['aria-label', 'title', 'placeholder', 'data-label']) texts.push(one.getAttribute(name) ?? '');
  const rest = (text) => {
    for (let before = ''; before !== text; ) [before, text] = [text, text.replace(/\\[[^[\\]]*\\]/g, '')];
    return text.replace(/\\b(?:Waygate|CSV|JSON|null|ms|p95|x|tool_id|args)\\b/g, '');
  };
  return texts.map(rest).filter((text) => /\\p{L}/u.test(text));
})()`;

describe.skipIf(BROWSER === undefined)('a page in another language', () => {
  const before = languageOfPages();
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchBrowser();
    speak({
      name: 'qps-ploc',
      texts: PSEUDO,
      translate: (message, values) => filled(PSEUDO[message] ?? message, values),
    });
  });
  afterAll(async () => {
    speak({ ...before, translate: filled });
    await browser?.close();
  });

  it.each([
    ['dashboard' as const, { type: 'state', state: DASHBOARD }, '[Servers &<b>"]'],
    ['table' as const, { type: 'state', state: TABLE }, '[Copy Page as CSV &<b>"]'],
    ['try' as const, { type: 'tool', json: JSON.stringify(TOOL) }, '[Answer as the model gets it &<b>"]'],
  ])('shows no other word: %s', async (name, message, text) => {
    const origin = `http://${name}.test`;
    const { page, post, violations } = await openPage(browser, origin, await pageFiles(name, origin));
    await post(message);
    for (const toggle of await page.locator('[data-toggle], summary').all()) await toggle.click();
    expect(await page.getByText(text, { exact: true }).count()).toBe(1);
    expect(await page.locator('html').getAttribute('lang')).toBe('qps-ploc');
    expect(await page.evaluate(UNTRANSLATED)).toEqual([]);
    expect(violations).toEqual([]);
    await page.close();
  });
});
