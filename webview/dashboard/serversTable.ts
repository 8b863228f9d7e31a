import type { DashboardAction, PageButton, ServerRow, ServersPart } from '../../src/control/dashboardMessages.ts';
import { escapeHtml as e } from '../../src/text/html.ts';
import { t } from '../l10n.ts';
import { type GlyphName, glyph } from './glyphs.ts';
import type { Part, Row } from './part.ts';

const NUMBERS = [t`Tools`, t`Tokens`, t`Calls / errors`, 'p95', t`Restarts`, t`Last used`];
/** Stands for a number that is not known; a narrow page leaves it out. */
const NONE = '–';
const COLUMNS = NUMBERS.length + 3;
const ACTION_GLYPHS: Partial<Record<DashboardAction, GlyphName>> = {
  startServer: 'start',
  restartServer: 'restart',
  serverLog: 'log',
  signIn: 'signIn',
  signOut: 'signOut',
  switchOff: 'power',
  switchOn: 'power',
};

/** Table of servers. `open` has the names of the servers whose details are shown. */
export function serversPart({ summary, rows }: ServersPart, open: ReadonlySet<string>): Part {
  const title = `<div class="title"><h2 id="servers-title">${e(t`Servers`)}</h2><span class="quiet">${e(summary)}</span></div>`;
  const headings = NUMBERS.map((title) => `<th scope="col" class="number">${e(title)}</th>`);
  const table = `<table aria-labelledby="servers-title" data-rows>
<thead data-fixed><tr><th scope="col">${e(t`Name`)}</th><th scope="col">${e(t`State`)}</th>${headings.join('')}<th scope="col" class="number">${e(t`Actions`)}</th></tr></thead>
</table>`;
  return {
    name: 'servers',
    frame: `<section data-part="servers" aria-labelledby="servers-title">${title}${
      rows.length === 0 ? `<p class="quiet">${e(t`The configuration names no servers yet.`)}</p>` : table
    }</section>`,
    rows: rows.map((row) => serverRow(row, open.has(row.name))),
  };
}

function serverRow(row: ServerRow, isOpen: boolean): Row {
  const { name, place, glyph: shape, state, details, stderr } = row;
  const key = `server:${name}`;
  const cells = [row.tools, row.tokens, row.calls, row.p95, row.restarts, row.lastUsed].map(
    (text, index) =>
      `<td class="number${text === NONE ? ' none' : ''}" data-label="${e(NUMBERS[index] ?? '')}">${e(text)}</td>`,
  );
  const toggle = `<button type="button" class="icon" id="${e(key)}:toggle" data-toggle="${e(name)}" aria-expanded="${isOpen}" aria-label="${e(t`Details of ${name}`)}">${glyph('chevron')}</button>`;
  const label = place
    ? `<button type="button" class="link" id="${e(key)}:place" data-action="openServer" data-subject="${e(name)}" title="${e(t`Open its place in the configuration`)}">${e(name)}</button>`
    : `<span>${e(name)}</span>`;
  const terms = details.map(({ term, text }) => `<dt>${e(term)}</dt><dd>${e(text)}</dd>`).join('');
  const output =
    stderr.length > 0
      ? `<dt>${e(t`Last output`)}</dt><dd><pre tabindex="0" role="region" aria-label="${e(t`Last output of ${name}`)}">${e(stderr.join('\n'))}</pre></dd>`
      : '';
  return {
    key,
    html: `<tbody data-row="${e(key)}">
<tr>
<th scope="row"><div class="name">${toggle}${label}</div></th>
<td class="state state-${shape}" data-label="${e(t`State`)}">${glyph(shape)}${e(state)}</td>
${cells.join('\n')}
<td class="actions">${row.buttons.map((button) => iconButton(button, key)).join('')}</td>
</tr>
<tr class="details"${isOpen ? '' : ' hidden'}><td colspan="${COLUMNS}"><dl>${terms}${output}</dl></td></tr>
</tbody>`,
  };
}

function iconButton({ action, subject = '', label, name }: PageButton, key: string): string {
  return `<button type="button" class="icon" id="${e(key)}:${action}" data-action="${action}" data-subject="${e(subject)}" title="${e(label)}" aria-label="${e(name ?? label)}">${glyph(ACTION_GLYPHS[action] ?? 'circle')}</button>`;
}
