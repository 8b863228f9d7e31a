import { plural, t } from '../l10n.ts';
import { type Draft, draftOf, emptyDraft, entryOf, isSet, OTHERS, readDraft, UNSET } from './drafts.ts';
import { button, el, longText, newId } from './elements.ts';
import { childField, type Entry, type Field, fieldNames, itemField, jsonText, takesOthers } from './fields.ts';
import { drawOthers, drawSome, MAX_DRAWN } from './rows.ts';
import { defaultWords, exampleWords, optionWords, shown, typeWords } from './words.ts';

/** Draws fields. An element with `data-path` is a field; `data-control` in it is what a problem marks. */

export type Path = readonly string[];

export interface Drawing {
  path: Path;
  /** Words for the label; absent for the arguments as a whole. */
  label?: string;
  /** Removes an item of a list. */
  remove?: HTMLElement;
  onChange(draft: Draft): void;
}

/** Optional fields that stay in sight where nothing is required. */
const MAX_UNFOLDED = 6;
/** Optional fields that stay in sight in an object inside the arguments. */
const MAX_UNFOLDED_INSIDE = 2;

export function drawField(field: Field, draft: Draft, drawing: Drawing): HTMLElement {
  const holder = el('div', { class: `field ${field.kind}`, 'data-path': JSON.stringify(drawing.path) });
  const draw = (next: Draft): void => {
    const again = (other: Draft, focus = true): void => {
      drawing.onChange(other);
      draw(other);
      if (focus) holder.querySelector<HTMLElement>('[data-control]')?.focus();
    };
    holder.replaceChildren(...content(field, fitting(field, next), drawing, again));
  };
  draw(draft);
  return holder;
}

type Again = (draft: Draft, focus?: boolean) => void;

/** Returns a draft that the field can show: a kept one may be of an earlier definition. */
function fitting(field: Field, draft: Draft): Draft {
  const isEdited = draft.kind === 'typed' && (draft.entry === 'json' || field.entries.includes(draft.entry));
  if (isEdited || draft.kind === 'unset' || draft.kind === 'null' || draft.kind === 'fixed') return draft;
  if (draft.kind === field.kind) return draft;
  return draft.kind === 'picked' && field.kind === 'choice' ? draft : draftOf(field, readDraft(field, draft).value);
}

function content(field: Field, draft: Draft, drawing: Drawing, again: Again): (Node | string)[] {
  const asJson = draft.kind === 'typed' && draft.entry === 'json';
  if (field.kind === 'object' && !asJson) return drawObject(field, draft, drawing, again);
  if (field.kind === 'list' && !asJson) return drawList(field, draft, drawing, again);
  if (field.kind === 'choice' && !asJson) return drawChoice(field, draft, drawing);
  return drawTyped(field, draft, drawing, again);
}

interface Parts {
  id: string;
  help: HTMLElement | undefined;
  problem: HTMLElement;
  describedBy: string | undefined;
}

function partsOf(field: Field): Parts {
  const id = newId();
  const example = exampleWords(field);
  const words = [shown(field.schema.description ?? ''), example && t`Example: ${example}`];
  const text = words.filter((word) => word && word !== 'null').join('\n');
  const help = text === '' ? undefined : longText(text, { class: 'help', id: `${id}-help` });
  const problem = el('p', { class: 'problem', id: `${id}-problem` });
  return { id, help, problem, describedBy: help?.id };
}

function heading(field: Field, { label, remove }: Drawing, tag: 'label' | 'legend', id: string): HTMLElement {
  const name = tag === 'label' ? el('label', { for: id }, label ?? '') : el('span', {}, label ?? '');
  const line = el(
    tag === 'legend' ? 'span' : 'div',
    { class: 'label' },
    name,
    field.required && remove === undefined ? el('span', { class: 'required' }, t`required`) : undefined,
    el('span', { class: 'type' }, typeWords(field)),
    remove,
  );
  return tag === 'legend' ? el('legend', {}, line) : line;
}

function drawChoice(field: Field, draft: Draft, drawing: Drawing): Node[] {
  const { id, help, problem, describedBy } = partsOf(field);
  const usual = defaultWords(field);
  const none = field.required ? t`Choose…` : usual === undefined ? t`Leave out` : t`Leave out (default: ${usual})`;
  const select = el('select', { id, 'data-control': true, 'aria-describedby': describedBy });
  const values: (Draft | undefined)[] = [
    field.constant ? undefined : UNSET,
    ...field.options.map((value): Draft => ({ kind: 'picked', value })),
    field.nullable || draft.kind === 'null' ? { kind: 'null' } : undefined,
  ];
  values.forEach((value, index) => {
    if (value === undefined) return;
    const words = value.kind === 'picked' ? optionWords(value.value) : value.kind === 'null' ? 'null' : none;
    select.append(el('option', { value: String(index) }, words));
  });
  const at = values.findIndex(
    (value) => value?.kind === draft.kind && (value.kind !== 'picked' || sameValue(value, draft)),
  );
  select.value = String(at >= 0 ? at : field.constant ? 1 : 0);
  select.addEventListener('change', () => drawing.onChange(values[Number(select.value)] ?? UNSET));
  return [heading(field, drawing, 'label', id), ...(help ? [help] : []), select, problem];
}

function sameValue(value: Draft, draft: Draft): boolean {
  return value.kind === 'picked' && draft.kind === 'picked' && jsonText(value.value) === jsonText(draft.value);
}

const ENTRY_WORDS: Readonly<Record<Entry, string>> = { text: t`Text`, number: t`Number`, json: 'JSON' };

function drawTyped(field: Field, draft: Draft, drawing: Drawing, again: Again): Node[] {
  const { id, help, problem, describedBy } = partsOf(field);
  const entries = field.entries.length > 0 ? field.entries : (['json'] as const);
  let entry: Entry = draft.kind === 'typed' ? draft.entry : (entries[0] ?? 'json');
  const text = draft.kind === 'typed' ? draft.text : '';
  const isEmptyText = draft.kind === 'typed' && text === '';
  const special = draft.kind === 'null' ? 'null' : isEmptyText ? t`(empty text)` : undefined;
  const usual = defaultWords(field);
  const attributes = {
    id,
    'data-control': true,
    'aria-describedby': describedBy,
    placeholder: special ?? (usual === undefined ? undefined : t`default: ${usual}`),
    spellcheck: 'false',
    autocomplete: 'off',
  };
  const input = control(field, entry, attributes);
  input.value = text;
  const emit = (): void => drawing.onChange(input.value === '' ? UNSET : { kind: 'typed', entry, text: input.value });
  input.addEventListener('input', () => {
    for (const other of specials.children) other.setAttribute('aria-pressed', 'false');
    input.placeholder = usual === undefined ? '' : t`default: ${usual}`;
    emit();
  });
  const line = el('div', { class: 'input' }, input);
  // Behind the input in the order of the keyboard, and above its end for the eye.
  const specials = el('div', { class: 'specials' });
  if (entries.length > 1 && entries.includes(entry))
    line.append(
      entryPicker(entries, entry, field, (next) => {
        entry = next;
        again(input.value === '' ? UNSET : { kind: 'typed', entry, text: input.value }, false);
      }),
    );
  const suggestions = entry === 'json' ? [] : field.options;
  if (suggestions.length > 0 && input instanceof HTMLInputElement) line.append(datalist(input, suggestions));
  const toggle = (label: string, value: Draft, isOn: boolean): void => {
    const press = (): void => again(isOn ? UNSET : value);
    specials.append(button(label, press, { class: 'special', 'aria-pressed': String(isOn) }));
  };
  if (entry === 'text') toggle(t`empty text`, { kind: 'typed', entry, text: '' }, isEmptyText);
  if (field.nullable || draft.kind === 'null') toggle('null', { kind: 'null' }, draft.kind === 'null');
  const back = field.kind === 'typed' ? undefined : backToForm(field, () => input.value, again);
  return [
    heading(field, drawing, 'label', id),
    ...(help ? [help] : []),
    line,
    specials,
    problem,
    ...(back ? [back] : []),
  ];
}

function control(
  field: Field,
  entry: Entry,
  attributes: Readonly<Record<string, string | boolean | undefined>>,
): HTMLInputElement | HTMLTextAreaElement {
  if (field.secret && entry !== 'json') return el('input', { ...attributes, type: 'password' });
  if (entry === 'number') return el('input', { ...attributes, type: 'text', inputmode: 'decimal' });
  if (entry === 'text' && field.options.length > 0) return el('input', { ...attributes, type: 'text' });
  return el('textarea', { ...attributes, rows: entry === 'json' ? '3' : '1', class: entry === 'json' ? 'code' : '' });
}

/** A list of ten thousand suggestions makes each key slow. */
const MAX_SUGGESTIONS = 1_000;

function datalist(input: HTMLInputElement, options: readonly unknown[]): HTMLElement {
  const list = el('datalist', { id: `${input.id}-list` });
  for (const value of options.slice(0, MAX_SUGGESTIONS))
    list.append(el('option', { value: typeof value === 'string' ? value : jsonText(value) }));
  input.setAttribute('list', list.id);
  return list;
}

function entryPicker(
  entries: readonly Entry[],
  chosen: Entry,
  field: Field,
  pick: (entry: Entry) => void,
): HTMLElement {
  const select = el('select', { class: 'entry', 'aria-label': t`Type of ${shown(field.name, 60)}` });
  for (const entry of entries)
    select.append(el('option', { value: entry, selected: entry === chosen }, ENTRY_WORDS[entry]));
  select.addEventListener('change', () => pick(entries.find((entry) => entry === select.value) ?? chosen));
  return select;
}

/** Returns the button that shows JSON as fields again, which is possible while the JSON is whole. */
function backToForm(field: Field, text: () => string, again: Again): HTMLElement {
  const press = (): void => {
    if (text().trim() === '') {
      again(emptyDraft(field));
      return;
    }
    const { value, problems } = readDraft(field, { kind: 'typed', entry: 'json', text: text() });
    const draft = draftOf(field, value);
    const isSame = draft.kind === 'typed' && draft.entry === 'json';
    // An empty object is a form without entries.
    if (problems.length === 0) again(isSame && field.kind === 'object' ? emptyDraft(field) : draft);
  };
  return button(t`Use the Form`, press, { class: 'link' });
}

function editAsJson(field: Field, current: () => Draft, again: Again): HTMLElement {
  const press = (): void => {
    const { value, problems } = readDraft(field, current());
    if (problems.length === 0)
      again({ kind: 'typed', entry: 'json', text: value === undefined ? '' : jsonText(value, 2) });
  };
  return button(t`Edit as JSON`, press, { class: 'link' });
}

function drawList(field: Field, draft: Draft, drawing: Drawing, again: Again): Node[] {
  const { id, help, problem } = partsOf(field);
  const item = itemField(field);
  const items: Draft[] = draft.kind === 'list' ? [...draft.items] : [];
  const rows = el('div', { class: 'rows' });
  const drawn = Math.min(items.length, MAX_DRAWN);
  for (let index = 0; index < drawn; index++) {
    const remove = button(t`Remove`, () => again(listOf(items.filter((_, at) => at !== index))), {
      class: 'link',
      'aria-label': t`Remove item ${index + 1} of ${drawing.label ?? ''}`,
    });
    const onChange = (next: Draft): void => {
      items[index] = next;
      drawing.onChange({ kind: 'list', items: [...items] });
    };
    const path = [...drawing.path, String(index)];
    rows.append(drawField(item, items[index] ?? UNSET, { path, label: t`Item ${index + 1}`, remove, onChange }));
  }
  if (items.length > drawn)
    rows.append(
      el(
        'p',
        { class: 'quiet' },
        plural(
          items.length - drawn,
          t`1 more item: edit it as JSON.`,
          t`${items.length - drawn} more items: edit them as JSON.`,
        ),
      ),
    );
  const add = button(
    t`Add`,
    () => {
      again({ kind: 'list', items: [...items, emptyDraft(item)] }, false);
      // The list is drawn anew, so the button is no longer part of it.
      const path = JSON.stringify([...drawing.path, String(items.length)]);
      const all = document.querySelectorAll<HTMLElement>(`[data-path="${CSS.escape(path)}"] [data-control]`);
      all[0]?.focus();
    },
    { class: 'secondary', 'data-control': true, 'aria-label': t`Add an item to ${drawing.label ?? ''}` },
  );
  const tools = el('div', { class: 'tools' }, add);
  const toggle = (label: string, value: Draft, isOn: boolean): void =>
    tools.append(button(label, () => again(isOn ? UNSET : value), { class: 'special', 'aria-pressed': String(isOn) }));
  if (items.length === 0) toggle(t`empty list`, { kind: 'list', items: [] }, draft.kind === 'list');
  if (field.nullable || draft.kind === 'null') toggle('null', { kind: 'null' }, draft.kind === 'null');
  tools.append(editAsJson(field, () => (items.length > 0 ? { kind: 'list', items } : draft), again));
  const group = el('fieldset', { id, 'aria-describedby': help?.id }, heading(field, drawing, 'legend', id));
  group.append(...(help ? [help] : []), rows, tools, problem);
  return [group];
}

function listOf(items: readonly Draft[]): Draft {
  return items.length === 0 ? UNSET : { kind: 'list', items };
}

function drawObject(field: Field, draft: Draft, drawing: Drawing, again: Again): Node[] {
  const { id, help, problem } = partsOf(field);
  const entries = new Map(draft.kind === 'object' ? draft.entries : []);
  let others = draft.kind === 'object' ? draft.others : '';
  const current = (): Draft => ({ kind: 'object', entries: [...entries], others });
  const emit = (): void => drawing.onChange(current());
  const { required, optional } = fieldNames(field);
  const drawChild = (name: string): HTMLElement => {
    const onChange = (next: Draft): void => {
      entries.set(name, next);
      emit();
    };
    const child = childField(field, name);
    return drawField(child, entryOf(field, draft, name), {
      path: [...drawing.path, name],
      label: shown(name.trim() === '' ? jsonText(name) : name, 200),
      onChange,
    });
  };
  const rows = el('div', { class: 'rows' });
  drawSome(rows, required, drawChild);
  const given = optional.filter((name) => isSet(entries.get(name) ?? UNSET));
  const isWhole = drawing.label === undefined;
  const open = optional.length <= (required.length === 0 ? MAX_UNFOLDED : isWhole ? 0 : MAX_UNFOLDED_INSIDE);
  if (open) drawSome(rows, optional, drawChild);
  else if (optional.length > 0) {
    const inner = el('div', { class: 'rows' });
    drawSome(inner, [...given, ...optional.filter((name) => !given.includes(name))], drawChild);
    const summary = el('summary', {}, t`More (${optional.length})`);
    rows.append(el('details', { open: given.length > 0 }, summary, inner));
  }
  const emitOthers = (text: string): void => {
    others = text;
    emit();
  };
  if (takesOthers(field) || others !== '') rows.append(drawOthers(others, [...drawing.path, OTHERS], emitOthers));
  const isEmpty = required.length + optional.length === 0 && !takesOthers(field);
  if (isEmpty) rows.append(el('p', { class: 'quiet' }, t`This tool takes no arguments.`));
  const tools = el('div', { class: 'tools' });
  if (field.nullable || draft.kind === 'null')
    tools.append(
      button('null', () => again(draft.kind === 'null' ? UNSET : { kind: 'null' }), {
        class: 'special',
        'aria-pressed': String(draft.kind === 'null'),
      }),
    );
  if (!isEmpty)
    tools.append(editAsJson(field, () => (draft.kind === 'null' && entries.size === 0 ? draft : current()), again));
  if (isWhole) return [rows, tools, problem];
  const group = el('fieldset', { id, 'aria-describedby': help?.id }, heading(field, drawing, 'legend', id));
  group.append(...(help ? [help] : []), rows, tools, problem);
  return [group];
}
