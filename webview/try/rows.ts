import { t } from '../l10n.ts';
import { button, el, newId } from './elements.ts';

/** Rows of fields: many at once cost time, and properties without a field are JSON. */

/** Fields drawn at once; the others follow on request. */
export const MAX_DRAWN = 100;

/** Draws the first fields, and a button for the next ones. */
export function drawSome(rows: HTMLElement, names: readonly string[], draw: (name: string) => HTMLElement): void {
  rows.append(...names.slice(0, MAX_DRAWN).map(draw));
  const rest = names.slice(MAX_DRAWN);
  if (rest.length === 0) return;
  const more = button(
    t`Show ${Math.min(MAX_DRAWN, rest.length)} of ${rest.length} More`,
    () => {
      const next = el('div', { class: 'rows' });
      drawSome(next, rest, draw);
      more.replaceWith(next);
      next.querySelector<HTMLElement>('[data-control]')?.focus();
    },
    { class: 'link' },
  );
  rows.append(more);
}

export function drawOthers(text: string, path: readonly string[], onInput: (text: string) => void): HTMLElement {
  const id = newId();
  const input = el('textarea', {
    id,
    class: 'code',
    rows: '3',
    spellcheck: 'false',
    'data-control': true,
    placeholder: '{"name": value}',
  });
  input.value = text;
  input.addEventListener('input', () => onInput(input.value));
  return el(
    'div',
    { class: 'field', 'data-path': JSON.stringify(path) },
    el('div', { class: 'label' }, el('label', { for: id }, t`Other properties`), el('span', { class: 'type' }, 'JSON')),
    input,
    el('p', { class: 'problem', id: `${id}-problem` }),
  );
}
