import {
  type FromTable,
  parseToTable,
  TABLE_ACTIONS,
  type TableQuery,
  type TableState,
} from '../../src/control/tableMessages.ts';
import { escapeHtml as e } from '../../src/text/html.ts';
import { t } from '../l10n.ts';
import { placeWords, renderTable } from './render.ts';

declare function acquireVsCodeApi(): { postMessage(message: FromTable): void };

const FILTER_DELAY_MS = 300;

const vscode = acquireVsCodeApi();
const page = element('page');
const live = element('live');
let query: TableQuery = { start: 1 };
let timer: number | undefined;

addEventListener('message', (event: MessageEvent<unknown>) => {
  const message = parseToTable(event.data);
  if (message !== undefined) draw(message.state);
});

addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest('button') : null;
  if (button === null || button.ariaDisabled === 'true') return;
  const { action, sort, start } = button.dataset;
  const known = TABLE_ACTIONS.find((name) => name === action);
  if (known !== undefined) vscode.postMessage({ type: 'action', action: known });
  else if (start !== undefined) ask({ ...query, start: Number(start) });
  else if (sort !== undefined) ask({ ...query, start: 1, ...nextOrder(Number(sort)) });
});

addEventListener('input', (event) => {
  if (!(event.target instanceof HTMLInputElement)) return;
  const contains = event.target.value;
  clearTimeout(timer);
  timer = window.setTimeout(() => ask({ ...query, start: 1, contains }), FILTER_DELAY_MS);
});

vscode.postMessage({ type: 'ready' });

function ask(next: TableQuery): void {
  query = next;
  vscode.postMessage({ type: 'query', query });
}

/** Sorts by a column upwards, then downwards. */
function nextOrder(sort: number): Pick<TableQuery, 'sort' | 'descending'> {
  return { sort, descending: query.sort === sort && query.descending !== true };
}

function draw(state: TableState): void {
  query = state.query;
  if (document.getElementById('table') === null) page.innerHTML = frame(state);
  const table = element('table');
  const focused = table.contains(document.activeElement) ? document.activeElement?.id : undefined;
  table.innerHTML = renderTable(state);
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  const words = state.reason ?? placeWords(state);
  if (live.textContent !== words) live.textContent = words;
}

/** Renders what is drawn once, so that typing into the filter is not interrupted. */
function frame({ title, query: { contains = '' }, wrangler }: TableState): string {
  const action = (name: string, label: string) =>
    `<button type="button" class="secondary" data-action="${name}">${e(label)}</button>`;
  return `<header><h1>${e(title)}</h1>
<div class="tools">
<label>${e(t`Contains`)} <input type="search" id="contains" value="${e(contains)}" spellcheck="false"></label>
${action('copyCsv', t`Copy Page as CSV`)}
${action('copyMarkdown', t`Copy Page as Markdown`)}
${action('saveAs', t`Save As…`)}
${wrangler ? action('openWrangler', t`Open in Data Wrangler…`) : ''}
</div></header>
<main id="table"></main>`;
}

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page of the table has no element "${id}".`);
  return found;
}
