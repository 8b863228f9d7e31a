import { TABLE_PAGE_ROWS, type TableState } from '../../src/control/tableMessages.ts';
import { escapeHtml as e } from '../../src/text/html.ts';
import { t } from '../l10n.ts';

/** Renders the table from its state alone, with its place and the buttons for other pages. */
export function renderTable(state: TableState): string {
  const { reason, columns } = state;
  const notice = reason === undefined ? '' : `<p class="notice">${e(reason)}</p>`;
  return columns.length === 0 ? notice : `${notice}${pager(state)}${grid(state)}`;
}

/** Describes the shown rows, for the reader and for a screen reader. */
export function placeWords({ query, rows, total }: TableState): string {
  if (rows.length === 0) return query.contains === undefined ? t`no rows` : t`no row contains "${query.contains}"`;
  const last = query.start + rows.length - 1;
  return t`rows ${digits(query.start)} to ${digits(last)} of ${digits(total)}`;
}

function pager(state: TableState): string {
  const { query, total } = state;
  const page = (id: string, label: string, start: number, isPossible: boolean) =>
    `<button type="button" id="${id}" class="secondary" data-start="${start}"${isPossible ? '' : ' aria-disabled="true"'}>${e(label)}</button>`;
  const last = Math.max(1, Math.floor((total - 1) / TABLE_PAGE_ROWS) * TABLE_PAGE_ROWS + 1);
  const next = query.start + TABLE_PAGE_ROWS;
  return `<div class="pager" role="group" aria-label="${e(t`Pages`)}">
${page('first', t`First`, 1, query.start > 1)}
${page('previous', t`Previous`, Math.max(1, query.start - TABLE_PAGE_ROWS), query.start > 1)}
${page('next', t`Next`, next, next <= total)}
${page('last', t`Last`, last, query.start < last)}
<span class="place">${e(placeWords(state))}</span>
</div>`;
}

function grid({ title, query, columns, rows }: TableState): string {
  const headings = columns.map((name, index) => {
    const isSorted = query.sort === index;
    const order = isSorted ? (query.descending ? 'descending' : 'ascending') : 'none';
    const sign = isSorted ? (query.descending ? '▼' : '▲') : '';
    return `<th scope="col" aria-sort="${order}"><button type="button" class="link" id="sort-${index}" data-sort="${index}">${e(name || t`(no name)`)}<span aria-hidden="true">${sign}</span></button></th>`;
  });
  const body = rows.map((row, index) => {
    const cells = columns.map((_, column) => cell(row[column] ?? ''));
    return `<tr><th scope="row" class="number">${digits(query.start + index)}</th>${cells.join('')}</tr>`;
  });
  return `<div class="scroll" tabindex="0" role="region" aria-label="${e(t`Table of ${title}`)}"><table>
<caption class="visually-hidden">${e(title)}</caption>
<thead><tr><th scope="col" class="number">#</th>${headings.join('')}</tr></thead>
<tbody>${body.join('\n')}</tbody>
</table></div>`;
}

function cell(text: string): string {
  const isNumber = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text);
  return `<td${isNumber ? ' class="number"' : ''}>${e(text)}</td>`;
}

function digits(amount: number): string {
  return String(amount).replace(/\B(?=(\d{3})+$)/g, ',');
}
