import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Themes in the order of the columns. */
export const THEMES = ['dark', 'light', 'hc-dark', 'hc-light'];

/**
 * Returns the states that have pictures, `VIEW-STATE.THEME.png`, with the themes that each lacks.
 * @param {readonly string[]} files
 * @returns {{ state: string, lacks: string[] }[]}
 */
export function statesOf(files) {
  const pictures = files.filter((file) => THEMES.some((theme) => file.endsWith(`.${theme}.png`)));
  const states = [...new Set(pictures.map((file) => file.replace(/\.[^.]+\.png$/, '')))].sort();
  return states.map((state) => ({
    state,
    lacks: THEMES.filter((theme) => !files.includes(`${state}.${theme}.png`)),
  }));
}

/**
 * Renders a page of all pictures, a row for each state, below a heading for each view.
 * @param {ReturnType<typeof statesOf>} states
 */
export function galleryPage(states) {
  /** @type {Record<string, typeof states>} */
  const views = {};
  for (const one of states) {
    const view = one.state.split('-')[0] ?? '';
    views[view] = [...(views[view] ?? []), one];
  }
  const cell = (/** @type {string} */ state, /** @type {string[]} */ lacks, /** @type {string} */ theme) =>
    lacks.includes(theme)
      ? '<td>no picture</td>'
      : `<td><a href="${state}.${theme}.png"><img src="${state}.${theme}.png" alt="${state} in ${theme}" loading="lazy"></a></td>`;
  const sections = Object.entries(views).map(
    ([view, rows]) => `<h2 id="${view}">${view}</h2>
<table><tr><th>state</th>${THEMES.map((theme) => `<th>${theme}</th>`).join('')}</tr>
${rows.map(({ state, lacks }) => `<tr><th>${state}</th>${THEMES.map((theme) => cell(state, lacks, theme)).join('')}</tr>`).join('\n')}
</table>`,
  );
  const links = Object.keys(views).map((view) => `<a href="#${view}">${view}</a>`);
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Waygate in VS Code</title><style>
body { margin: 16px; background: #777; color: #fff; font: 13px sans-serif; }
a { color: inherit; margin-right: 8px; }
th { text-align: left; vertical-align: top; font-weight: 600; }
td a { margin: 0; }
img { width: 24vw; display: block; }
</style></head><body>
<h1>${states.length} states in ${THEMES.length} themes</h1>
<nav>${links.join(' ')}</nav>
${sections.join('\n')}
</body></html>
`;
}

/**
 * Writes `index.html` beside the pictures. Throws if a state lacks a theme, or if nothing was taken.
 * @param {string} folder
 */
export function writeGallery(folder) {
  const states = statesOf(existsSync(folder) ? readdirSync(folder) : []);
  writeFileSync(join(folder, 'index.html'), galleryPage(states));
  const partial = states.filter(({ lacks }) => lacks.length > 0);
  if (states.length === 0 || partial.length > 0)
    throw new Error(
      `Pictures are missing: ${partial.map(({ state, lacks }) => `${state} (${lacks.join(', ')})`).join(', ') || 'all'}.`,
    );
  return states.length;
}
