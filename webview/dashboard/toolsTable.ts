import type { ToolRow } from '../../src/control/dashboardMessages.ts';
import { escapeHtml as e } from '../../src/text/html.ts';
import { groupDigits, latency } from '../../src/text/porcelain.ts';
import { t } from '../l10n.ts';
import { glyph } from './glyphs.ts';
import type { Part, Row } from './part.ts';

/** Columns by which the user can sort. */
const NUMBERS = [
  { key: 'calls', title: t`Calls` },
  { key: 'errors', title: t`Errors` },
  { key: 'p95Ms', title: 'p95' },
  { key: 'tokensSaved', title: t`Tokens saved` },
] as const;
type SortKey = (typeof NUMBERS)[number]['key'];

export interface Sorting {
  by: SortKey;
  descending: boolean;
}

export const BY_CALLS: Sorting = { by: 'calls', descending: true };

/** Returns the sorting after a click on a heading: another column begins with its largest value. */
export function sortedBy({ by, descending }: Sorting, clicked: unknown): Sorting {
  const column = NUMBERS.find(({ key }) => key === clicked);
  if (!column) return { by, descending };
  return { by: column.key, descending: column.key === by ? !descending : true };
}

/** Returns a sorting that an earlier page kept. */
export function parseSorting(kept: unknown): Sorting {
  const { by, descending } = (kept ?? {}) as Partial<Sorting>;
  const column = NUMBERS.find(({ key }) => key === by);
  return column && typeof descending === 'boolean' ? { by: column.key, descending } : BY_CALLS;
}

export function toolsPart(tools: readonly ToolRow[], sorting: Sorting): Part {
  const title = `<h2 id="tools-title">${e(t`Tools`)}</h2>`;
  if (tools.length === 0) {
    const empty = `<p class="quiet">${e(t`No tool was called yet. The tools with most calls appear here.`)}</p>`;
    return { name: 'tools', frame: section(`${title}${empty}`), rows: [] };
  }
  const { by, descending } = sorting;
  const sorted = tools.toSorted(
    (a, b) => (descending ? b[by] - a[by] : a[by] - b[by]) || (a.toolId < b.toolId ? -1 : 1),
  );
  const headings = NUMBERS.map(({ key, title }) => {
    const sort = key !== by ? 'none' : descending ? 'descending' : 'ascending';
    const mark = key === by ? glyph(descending ? 'descending' : 'ascending') : '';
    return `<th scope="col" class="number" aria-sort="${sort}"><button type="button" class="heading" id="sort-${key}" data-sort="${key}">${mark}${e(title)}</button></th>`;
  });
  return {
    name: 'tools',
    frame: section(`<div class="title">${title}<span class="quiet">${e(t`most calls first, at most 20`)}</span></div>
<table aria-labelledby="tools-title">
<thead><tr><th scope="col">${e(t`Tool`)}</th><th scope="col">${e(t`Server`)}</th>${headings.join('')}</tr></thead>
<tbody data-rows></tbody>
</table>`),
    rows: sorted.map(toolRow),
  };
}

function section(content: string): string {
  return `<section data-part="tools" aria-labelledby="tools-title">${content}</section>`;
}

function toolRow({ toolId, name, namespace, calls, errors, p95Ms, tokensSaved }: ToolRow): Row {
  const key = `tool:${toolId}`;
  const label = namespace
    ? `<button type="button" class="link" id="${e(key)}" data-action="openTool" data-subject="${e(toolId)}" title="${e(t`Open its definition`)}">${e(name)}</button>`
    : e(name);
  const number = (title: string, text: string, kind = ''): string =>
    `<td class="number${kind}" data-label="${e(title)}">${text}</td>`;
  return {
    key,
    html: `<tr data-row="${e(key)}">
<th scope="row">${label}</th>
<td data-label="${e(t`Server`)}">${e(namespace)}</td>
${number(t`Calls`, groupDigits(calls))}
${number(t`Errors`, groupDigits(errors), errors > 0 ? ' bad' : '')}
${number('p95', latency(p95Ms))}
${number(t`Tokens saved`, groupDigits(tokensSaved))}
</tr>`,
  };
}
