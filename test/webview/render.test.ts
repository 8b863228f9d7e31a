import { describe, expect, it } from 'vitest';
import { DASHBOARD_ACTIONS, type DashboardState } from '../../src/control/dashboardMessages.ts';
import type { Part } from '../../webview/dashboard/part.ts';
import { render } from '../../webview/dashboard/render.ts';
import { BY_CALLS, parseSorting, sortedBy, toolsPart } from '../../webview/dashboard/toolsTable.ts';
import { PAGES } from './sample.ts';

const CHOICES = { sorting: BY_CALLS, open: new Set(['tickets']) };
const parts = (state: DashboardState): Part[] => render(state, CHOICES);
const htmlOf = (state: DashboardState): string =>
  parts(state)
    .flatMap(({ frame, rows }) => [frame, ...rows.map(({ html }) => html)])
    .join('\n');
const part = (state: DashboardState, name: string): string => {
  const { frame = '', rows = [] } = parts(state).find((one) => one.name === name) ?? {};
  return [frame, ...rows.map(({ html }) => html)].join('\n');
};

/** Turns every text of a state into an attempt to inject markup. */
function hostile<T>(value: T): T {
  if (typeof value === 'string') return `"'><img src=x onerror=alert(1)>&${value}` as T;
  if (Array.isArray(value)) return value.map(hostile) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, CLOSED_SETS.has(key) ? item : hostile(item)]),
  ) as T;
}
/** Values from closed sets, and ids that the extension makes itself. */
const CLOSED_SETS = new Set(['level', 'glyph', 'action']);
const PAGE_NAMES = Object.keys(PAGES) as (keyof typeof PAGES)[];

describe('render', () => {
  it.each(PAGE_NAMES)('renders the state %s', async (name) => {
    await expect(`${htmlOf(PAGES[name])}\n`).toMatchFileSnapshot(`golden/${name}.txt`);
  });

  it('puts the sections in one order, and leaves out what needs nobody', () => {
    const names = (state: DashboardState): string[] => parts(state).map(({ name }) => name);
    expect(names(PAGES.degraded)).toEqual(['header', 'needs', 'now', 'limits', 'servers', 'tools']);
    expect(names(PAGES.ready)).toEqual(['header', 'now', 'limits', 'servers', 'tools']);
    expect(names(PAGES.off)).toEqual(['header', 'needs', 'now']);
  });

  it('escapes every text', () => {
    const html = htmlOf(hostile(PAGES.degraded));
    expect(html).not.toContain('<img');
    expect(html).not.toMatch(/"'>/);
    expect(html.match(/onerror/g)?.length).toBeGreaterThan(20);
    const tags = (text: string): string[] => (text.match(/<\/?[a-z0-9]+/g) ?? []).sort();
    const open = new Set([...CHOICES.open].map(hostile));
    const hostilePage = render(hostile(PAGES.degraded), { ...CHOICES, open });
    const text = hostilePage.flatMap(({ frame, rows }) => [frame, ...rows.map((row) => row.html)]).join('\n');
    expect(tags(text)).toEqual(tags(htmlOf(PAGES.degraded)));
  });

  it('names the health for people and for programs', () => {
    expect(part(PAGES.degraded, 'now')).toContain('data-health="degraded"');
    expect(part(PAGES.lost, 'now')).toContain('<strong>Not running</strong>');
  });

  it('keeps the last rows visible while a worker is replaced, marks them as old, and offers no refresh', () => {
    expect(part(PAGES.lost, 'now')).toContain('as it was when the gateway answered last');
    expect(part(PAGES.lost, 'header')).toContain('data-action="refresh" aria-disabled="true">Refresh<');
    expect(part(PAGES.lost, 'servers')).toContain('data-row="server:tickets"');
    expect(part(PAGES.degraded, 'now')).not.toContain('answered last');
    expect(part({ ...PAGES.ready, refreshing: true }, 'header')).toContain('aria-disabled="true">Refreshing…<');
  });

  it('shows each limit as a bar with its words, and a reached one with a glyph and its time', () => {
    const [first, , third] = parts(PAGES.limitMet).find(({ name }) => name === 'limits')?.rows ?? [];
    expect(first?.html).toContain('<meter min="0" max="20" value="0" aria-label="Searches, a minute, all sessions');
    expect(first?.html).toMatch(/glyph-error.*0 of 20 left/s);
    expect(first?.html).toContain('waits until 12:00:31');
    expect(third?.html).not.toContain('glyph-error');
    expect(third?.html).toContain('33 of 40 left');
    expect(third?.html).toContain('frees in 12 s');
    expect(part(PAGES.empty, 'limits')).toMatch(/No limits are set.*data-action="addLimits"[^>]*>Add Limits…</s);
  });

  it('describes the plot, and has a table with the same numbers', () => {
    const now = part(PAGES.degraded, 'now');
    expect(now).toMatch(
      /<svg [^>]*role="img" aria-labelledby="plot-title"[^>]*>\s*<title id="plot-title">Calls a minute/,
    );
    const hidden = /<table class="visually-hidden">.*?<\/table>/s.exec(now)?.[0] ?? '';
    expect(hidden.match(/<th scope="row">/g)).toHaveLength(15);
    expect(hidden).toContain('<tr><th scope="row">now</th><td>28</td><td>0</td></tr>');
    expect(part(PAGES.empty, 'now')).not.toContain('<svg class="plot"');
  });

  it('gives every cell of a table a heading', () => {
    for (const name of ['servers', 'tools']) {
      const html = part(PAGES.degraded, name);
      const headings = html.match(/<th scope="col"/g)?.length ?? 0;
      const rows = html.match(/<tr[ >](?:(?!<\/tr>).)*<th scope="row".*?<\/tr>/gs) ?? [];
      expect(rows.length).toBeGreaterThan(2);
      for (const row of rows) expect(row.match(/<t[hd][ >]/g)?.length, row).toBe(headings);
    }
  });

  it.each(PAGE_NAMES)('uses no id and no key twice in the state %s', (name) => {
    const ids = [...htmlOf(PAGES[name]).matchAll(/ id="([^"]+)"/g)].map((match) => match[1]);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    const keys = parts(PAGES[name]).flatMap(({ rows }) => rows.map(({ key }) => key));
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('gives each button an action that the extension knows, and a name that holds its label', () => {
    const buttons = htmlOf(PAGES.degraded).match(/<button [^>]*data-action=.*?<\/button>/g) ?? [];
    expect(buttons.length).toBeGreaterThan(20);
    for (const button of buttons) {
      const action = /data-action="(\w+)"/.exec(button)?.[1];
      expect(DASHBOARD_ACTIONS).toContain(action);
      const name = /aria-label="([^"]*)"/.exec(button)?.[1];
      const label = /title="([^"]*)"/.exec(button)?.[1] ?? /([^>]*)<\/button>/.exec(button)?.[1];
      if (name !== undefined) expect(name).toContain(label);
    }
  });
});

describe('the sorting of tools', () => {
  const orderOf = (by: typeof BY_CALLS): (string | undefined)[] =>
    toolsPart(PAGES.degraded.tools ?? [], by).rows.map(({ key }) => /:(\w+)#/.exec(key)?.[1]);

  it('begins with the largest value, and turns with the second click', () => {
    expect(orderOf(BY_CALLS)).toEqual(['read_text_file', 'get_sum', 'create_issue']);
    const errors = sortedBy(BY_CALLS, 'errors');
    expect(orderOf(errors)[0]).toBe('create_issue');
    const ascending = sortedBy(sortedBy(BY_CALLS, 'p95Ms'), 'p95Ms');
    expect(orderOf(ascending)).toEqual(['read_text_file', 'get_sum', 'create_issue']);
    expect(toolsPart(PAGES.degraded.tools ?? [], ascending).frame).toContain('aria-sort="ascending"');
    expect(sortedBy(BY_CALLS, 'toolId')).toEqual(BY_CALLS);
  });

  it.each([undefined, null, 'x', {}, { by: 'toolId', descending: true }, { by: 'calls', descending: 1 }])(
    'is by calls if the page kept %j',
    (kept) => {
      expect(parseSorting(kept)).toEqual(BY_CALLS);
    },
  );
});
