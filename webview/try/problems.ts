import type { PlacedProblem } from '../../src/control/tryMessages.ts';
import { plural, t } from '../l10n.ts';
import { button, byId, el } from './elements.ts';

/** Marks the fields that have problems, and lists them in the summary. */

interface Marked {
  problem: PlacedProblem;
  field: HTMLElement;
}

/** Returns the fields of the form by their paths. */
function fieldsByPath(form: HTMLElement): Map<string, HTMLElement> {
  const fields = [...form.querySelectorAll<HTMLElement>('[data-path]')];
  return new Map(fields.map((field) => [field.dataset.path ?? '', field]));
}

/** Returns the deepest field at or above a place. */
function fieldAt(fields: ReadonlyMap<string, HTMLElement>, path: readonly string[]): HTMLElement | undefined {
  for (let length = path.length; length >= 0; length--) {
    const field = fields.get(JSON.stringify(path.slice(0, length)));
    if (field !== undefined) return field;
  }
  return undefined;
}

/**
 * Shows the problems and returns those that wait: about a field that the user has not come to yet. They are shown when
 * the user leaves the field or runs the tool.
 */
export function showProblems(
  form: HTMLElement,
  problems: readonly PlacedProblem[],
  isDue: (field: HTMLElement) => boolean,
): readonly PlacedProblem[] {
  const fields = fieldsByPath(form);
  const marked = problems.flatMap((problem): Marked[] => {
    const field = fieldAt(fields, problem.path);
    return field === undefined ? [] : [{ problem, field }];
  });
  const due = marked.filter(({ field }) => field.dataset.path === '[]' || isDue(field));
  const texts = new Map<HTMLElement, string[]>();
  for (const { problem, field } of due) texts.set(field, [...(texts.get(field) ?? []), problem.message]);
  for (const field of fields.values()) mark(field, texts.get(field) ?? []);
  summarize(due);
  return marked.filter((one) => !due.includes(one)).map(({ problem }) => problem);
}

function mark(field: HTMLElement, messages: readonly string[]): void {
  const line = own(field, '.problem');
  if (line === undefined) return;
  const text = messages.join('\n');
  if (line.textContent !== text) line.textContent = text;
  const control = own(field, '[data-control]') ?? own(field, 'fieldset');
  if (control === undefined) return;
  const described = (control.getAttribute('aria-describedby') ?? '')
    .split(' ')
    .filter((id) => id !== '' && id !== line.id);
  const ids = text === '' ? described : [...described, line.id];
  if (ids.length > 0) control.setAttribute('aria-describedby', ids.join(' '));
  else control.removeAttribute('aria-describedby');
  if (!/^(?:INPUT|SELECT|TEXTAREA)$/.test(control.tagName)) return;
  if (text === '') control.removeAttribute('aria-invalid');
  else control.setAttribute('aria-invalid', 'true');
}

/** Returns the first element that belongs to the field itself and not to one inside. */
function own(field: HTMLElement, selector: string): HTMLElement | undefined {
  return [...field.querySelectorAll<HTMLElement>(selector)].find((found) => found.closest('[data-path]') === field);
}

function summarize(due: readonly Marked[]): void {
  const rows = due.map(({ problem, field }) => {
    const go = (): void => {
      field.closest('details')?.setAttribute('open', '');
      (own(field, '[data-control]') ?? field.querySelector<HTMLElement>('[data-control]'))?.focus();
    };
    return el('li', {}, button(problem.message, go, { class: 'link' }));
  });
  const summary = byId('problems');
  summary.hidden = rows.length === 0;
  const title = plural(rows.length, t`1 problem`, t`${rows.length} problems`);
  summary.replaceChildren(...(rows.length === 0 ? [] : [el('p', { class: 'title' }, title), el('ul', {}, ...rows)]));
}
