import type {
  DashboardState,
  Figure,
  HealthLevel,
  LimitRow,
  LimitsPart,
  NeedRow,
  NowPart,
  PageButton,
} from '../../src/control/dashboardMessages.ts';
import { escapeHtml as e } from '../../src/text/html.ts';
import { t } from '../l10n.ts';
import { callsPlot } from './callsPlot.ts';
import { type GlyphName, glyph } from './glyphs.ts';
import type { Part } from './part.ts';
import { serversPart } from './serversTable.ts';
import { type Sorting, toolsPart } from './toolsTable.ts';

/** Choices of the user on the page itself. */
export interface PageChoices {
  sorting: Sorting;
  /** Names of the servers whose details are shown. */
  open: ReadonlySet<string>;
}

/** Renders the parts of the page in their order, from the state and the user's choices alone. */
export function render(state: DashboardState, { sorting, open }: PageChoices): Part[] {
  const { needs, now, limits, servers, tools } = state;
  return [
    header(state),
    ...(needs.length > 0 ? [needsPart(needs)] : []),
    nowPart(now),
    ...(limits ? [limitsPart(limits)] : []),
    ...(servers ? [serversPart(servers, open)] : []),
    ...(tools ? [toolsPart(tools, sorting)] : []),
  ];
}

function header({ workspace, refreshing, live }: DashboardState): Part {
  const path = workspace ? `<p class="quiet path">${e(workspace)}</p>` : '';
  return {
    name: 'header',
    frame: `<header data-part="header">
<div><h1>Waygate</h1>${path}</div>
<div class="buttons" role="group" aria-label="${e(t`Gateway`)}">
<button type="button" id="refresh" class="secondary" data-action="refresh"${refreshing || !live ? ' aria-disabled="true"' : ''}>${e(refreshing ? t`Refreshing…` : t`Refresh`)}</button>
<button type="button" id="openConfiguration" class="secondary" data-action="openConfiguration">${e(t`Open Configuration`)}</button>
<button type="button" id="showLog" class="secondary" data-action="showLog">${e(t`Show Log`)}</button>
</div>
</header>`,
    rows: [],
  };
}

function needsPart(needs: readonly NeedRow[]): Part {
  return {
    name: 'needs',
    frame: `<section data-part="needs" aria-labelledby="needs-title"><div class="title"><h2 id="needs-title">${e(t`Needs you`)}</h2><span class="quiet">${needs.length}</span></div><ul data-rows></ul></section>`,
    rows: needs.map(({ id, glyph: shape, subject, words, quotes, buttons }) => {
      const passages = quotes.map(
        ({ about, quote }) => `<li>${e(about)}${quote === undefined ? '' : `: <q>${e(quote)}</q>`}</li>`,
      );
      const list = passages.length > 0 ? `<ul class="quotes">${passages.join('')}</ul>` : '';
      const key = `need:${id}`;
      return {
        key,
        html: `<li data-row="${e(key)}" class="need state-${shape}">${glyph(shape)}<div class="words"><strong>${e(subject)}</strong> ${e(words)}${list}</div><div class="buttons">${pageButtons(buttons, key)}</div></li>`,
      };
    }),
  };
}

const LEVEL_GLYPHS: Record<HealthLevel, GlyphName> = {
  ready: 'check',
  starting: 'progress',
  degraded: 'warning',
  stopping: 'progress',
  lost: 'error',
  off: 'circle',
};

function nowPart({ level, words, headline, figures, lines }: NowPart): Part {
  const methods = figures.flatMap(({ method }) => (method ? [method] : []));
  const rows = [
    {
      key: 'health',
      html: `<p data-row="health" class="health state-${LEVEL_GLYPHS[level]}" data-health="${level}">${glyph(LEVEL_GLYPHS[level])}<strong>${e(words)}</strong> <span>${e(headline)}</span></p>`,
    },
    ...(figures.length > 0
      ? [
          {
            key: 'figures',
            html: `<dl data-row="figures" class="figures">${figures.map(figure).join('')}</dl>`,
          },
        ]
      : []),
    ...lines.map((line, index) => ({
      key: `line-${index}`,
      html: `<p data-row="line-${index}" class="quiet line">${e(line)}</p>`,
    })),
    ...methods.map((method) => ({
      key: 'method',
      html: `<p data-row="method" class="quiet line" id="method">${e(method)}</p>`,
    })),
  ];
  return {
    name: 'now',
    frame: `<section data-part="now" aria-labelledby="now-title"><h2 id="now-title">${e(t`Now`)}</h2><div data-rows></div></section>`,
    rows,
  };
}

function figure({ term, value, notes, method, plot }: Figure): string {
  const title = method ? ` title="${e(method)}"` : '';
  const about = notes.map((note) => `<span class="quiet note">${e(note)}</span>`).join('');
  return `<div${title}><dt class="quiet">${e(term)}</dt><dd><span class="value">${e(value)}</span>${plot ? callsPlot(plot) : ''}${about}</dd></div>`;
}

function limitsPart({ rows, sentence, buttons }: LimitsPart): Part {
  const title = `<div class="title"><h2 id="limits-title">${e(t`Limits`)}</h2>${rows.length > 0 ? pageButtons(buttons, 'limits', 'link') : ''}</div>`;
  const words = sentence
    ? `<p class="sentence"><span class="quiet">${e(sentence)}</span> ${pageButtons(buttons, 'limits', 'link')}</p>`
    : '';
  const list = rows.length > 0 ? '<ul class="limits" data-rows></ul>' : '';
  return {
    name: 'limits',
    frame: `<section data-part="limits" aria-labelledby="limits-title">${title}${words}${list}</section>`,
    rows: rows.map(limitRow),
  };
}

function limitRow({ id, name, of, limit, left, words, frees, isMet }: LimitRow) {
  const key = `limit:${id}`;
  const label = t`${name}, ${of}: calls left`;
  return {
    key,
    html: `<li data-row="${e(key)}"${isMet ? ' class="met"' : ''}>
<span class="limit-name">${e(name)} <span class="quiet">${e(of)}</span></span>
<meter min="0" max="${limit}" value="${left}" aria-label="${e(label)}"></meter>
<span class="limit-left">${isMet ? glyph('error') : ''}${e(words)}</span>
<span class="limit-frees quiet">${e(frees)}</span>
</li>`,
  };
}

function pageButtons(buttons: readonly PageButton[], key: string, kind = ''): string {
  return buttons
    .map(({ action, subject, label, name }) => {
      // An agent waits for the answer to a question, so its button stands out.
      const style = kind || (action === 'answerQuestion' ? '' : 'secondary');
      return `<button type="button" id="${e(key)}:${action}"${style ? ` class="${style}"` : ''} data-action="${action}"${subject === undefined ? '' : ` data-subject="${e(subject)}"`}${name ? ` aria-label="${e(name)}"` : ''}>${e(label)}</button>`;
    })
    .join('');
}
