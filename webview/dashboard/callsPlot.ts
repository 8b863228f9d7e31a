import type { CallsPlot } from '../../src/control/dashboardMessages.ts';
import { escapeHtml as e } from '../../src/text/html.ts';
import { t } from '../l10n.ts';

const BAR = 8;
const GAP = 2;
const HEIGHT = 32;

/** Draws a bar for each minute, errors at its foot. The hidden table has the same numbers for a screen reader. */
export function callsPlot({ title, minutes }: CallsPlot): string {
  const most = Math.max(1, ...minutes.map(({ calls }) => calls));
  const scaled = (calls: number): number => (calls === 0 ? 0 : Math.max(2, Math.round((calls / most) * HEIGHT)));
  const bars = minutes.map(({ calls, errors }, index) => {
    const x = index * (BAR + GAP);
    const bar = (kind: string, height: number): string =>
      height === 0 ? '' : `<rect class="${kind}" x="${x}" y="${HEIGHT - height}" width="${BAR}" height="${height}"/>`;
    return bar('calls', scaled(calls)) + bar('errors', Math.min(scaled(errors), scaled(calls)));
  });
  const width = minutes.length * (BAR + GAP) - GAP;
  const rows = minutes.map(({ calls, errors }, index) => {
    const ago = minutes.length - 1 - index;
    return `<tr><th scope="row">${e(ago === 0 ? t`now` : t`${ago} min ago`)}</th><td>${calls}</td><td>${errors}</td></tr>`;
  });
  return `<svg class="plot" role="img" aria-labelledby="plot-title" viewBox="0 0 ${width} ${HEIGHT + 1}" width="${width}" height="${HEIGHT + 1}">
<title id="plot-title">${e(title)}</title>
<path class="axis" d="M0 ${HEIGHT + 0.5}H${width}"/>${bars.join('')}
</svg>
<table class="visually-hidden">
<caption>${e(t`Calls a minute`)}</caption>
<thead><tr>${[t`Minute`, t`Calls`, t`Errors`].map((title) => `<th scope="col">${e(title)}</th>`).join('')}</tr></thead>
<tbody>${rows.join('')}</tbody>
</table>`;
}
