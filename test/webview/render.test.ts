import { describe, expect, it } from 'vitest';
import type { DashboardState } from '../../src/control/dashboardMessages.ts';
import { age, duration, timestamp } from '../../webview/dashboard/format.ts';
import { render } from '../../webview/dashboard/render.ts';
import { BUSY, BUSY_PAGE, NOW } from './sample.ts';

const LOST: DashboardState = {
  now: NOW,
  refreshing: false,
  live: false,
  quarantined: [],
  summary: { level: 'lost', headline: 'The gateway is not running.', problems: ['The gateway has ended.'] },
};
const EMPTY: DashboardState = {
  now: NOW,
  refreshing: true,
  live: true,
  quarantined: [],
  summary: { level: 'ready', headline: '0 tools from 0 servers.', problems: [] },
  snapshot: {
    ...BUSY,
    health: 'ready',
    configuration: { ...BUSY.configuration, problems: [] },
    servers: [],
    sessions: [],
    recentCalls: [],
    catalog: { revision: 1, toolCount: 0, namespaceCount: 0, skipped: [] },
  },
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
/** Values from closed sets of the contract, which are not free text. */
const CLOSED_SETS = new Set(['level', 'state', 'severity', 'outcome', 'health']);

describe('render', () => {
  it.each<[string, DashboardState]>([
    ['busy', BUSY_PAGE],
    ['lost', LOST],
    ['empty', EMPTY],
  ])('renders a %s gateway', async (name, state) => {
    await expect(`${render(state)}\n`).toMatchFileSnapshot(`golden/${name}.txt`);
  });

  it('is the same for the same state', () => {
    expect(render(structuredClone(BUSY_PAGE))).toBe(render(BUSY_PAGE));
  });

  it('escapes every text', () => {
    const html = render(hostile(BUSY_PAGE));
    expect(html).not.toContain('<img');
    expect(html).not.toMatch(/"'>/);
    const tags = (text: string): string[] => (text.match(/<\/?[a-z0-9]+/g) ?? []).sort();
    expect(tags(html)).toEqual(tags(render(BUSY_PAGE)));
    expect(html.match(/onerror/g)?.length).toBeGreaterThan(20);
  });

  it('names the health for people and for programs', () => {
    expect(render(BUSY_PAGE)).toContain('data-health="degraded"');
    expect(render(LOST)).toContain('data-health="lost"');
    expect(render(LOST)).toContain('<strong>Not running</strong>');
  });

  it('keeps the last snapshot visible while a worker is replaced, and marks it as old', () => {
    const html = render({ ...BUSY_PAGE, live: false });
    expect(html).toContain('<header data-part="header" class="stale">');
    expect(html).toContain('data-server="tickets"');
    expect(html).toContain('data-action="refresh" aria-disabled="true">');
    expect(render(BUSY_PAGE)).not.toContain('stale');
  });

  it('offers no refresh while the gateway is stopped or refreshing', () => {
    expect(render(BUSY_PAGE)).toContain('data-action="refresh">Refresh<');
    expect(render(LOST)).toContain('data-action="refresh" aria-disabled="true">Refresh<');
    expect(render(EMPTY)).toContain('data-action="refresh" aria-disabled="true">Refreshing…<');
  });

  it('gives every table a caption and every column a heading', () => {
    const html = render(BUSY_PAGE);
    const tables = html.match(/<table>[\s\S]*?<\/table>/g) ?? [];
    expect(tables).toHaveLength(5);
    for (const table of tables) {
      expect(table).toMatch(/^<table>\n<caption><h2 id="\w+-title">/);
      const headings = table.match(/<th scope="col"/g)?.length ?? 0;
      const rows = table.match(/<tr[ >][\s\S]*?<\/tr>/g) ?? [];
      for (const row of rows) expect(row.match(/<t[hd][ >]/g)?.length ?? 0).toBe(headings);
    }
  });

  it('uses no id twice', () => {
    const ids = [...render(BUSY_PAGE).matchAll(/ id="([^"]+)"/g)].map((match) => match[1]);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('times', () => {
  it.each<[number, string]>([
    [0, '0 ms'],
    [1.8, '2 ms'],
    [2_310, '2.3 s'],
    [42_000, '42 s'],
    [60_000, '1 min'],
    [125_000, '2 min 5 s'],
    [11_520_000, '3 h 12 min'],
    [180_000_000, '2 d 2 h'],
    [-5, '0 s'],
    [Number.NaN, '0 s'],
  ])('%d ms last %s', (ms, text) => {
    expect(duration(ms)).toBe(text);
  });

  it.each<[number, string]>([
    [-3_000, 'just now'],
    [9_999, 'just now'],
    [25_000, '20 s ago'],
    [95_000, '1 min ago'],
    [7_300_000, '2 h ago'],
    [200_000_000, '2 d ago'],
  ])('%d ms are %s', (ms, text) => {
    expect(age(ms)).toBe(text);
  });

  it('accepts invalid times without an error', () => {
    expect(timestamp(Number.NaN)).toBe('');
    expect(timestamp(0)).toBe('1970-01-01T00:00:00.000Z');
  });
});
