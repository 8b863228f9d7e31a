import { t } from '../l10n.ts';

/** Builds elements. Text is always text: no markup of a server reaches the page. */

type Attributes = Readonly<Record<string, string | boolean | undefined>>;
type Child = Node | string | undefined;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flatMap((child) => (child === undefined || child === '' ? [] : [child])));
  return element;
}

export function button(label: string, press: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const element = el('button', { type: 'button', ...attributes }, label);
  element.addEventListener('click', press);
  return element;
}

const MAX_SHORT_CHARS = 320;

/** Returns a text, folded after its beginning if it is long. */
export function longText(text: string, attributes: Attributes = {}): HTMLElement {
  if (text.length <= MAX_SHORT_CHARS) return el('p', attributes, text);
  const beginning = el('span', {}, `${text.slice(0, MAX_SHORT_CHARS).trimEnd()}… `);
  const more = button(
    t`Show All`,
    () => {
      const isShort = more.getAttribute('aria-expanded') !== 'true';
      beginning.textContent = isShort ? `${text} ` : `${text.slice(0, MAX_SHORT_CHARS).trimEnd()}… `;
      more.textContent = isShort ? t`Show Less` : t`Show All`;
      more.setAttribute('aria-expanded', String(isShort));
    },
    { class: 'link', 'aria-expanded': 'false' },
  );
  return el('p', attributes, beginning, more);
}

let last = 0;

export function newId(): string {
  last += 1;
  return `f${last}`;
}

export function byId(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The page has no element "${id}".`);
  return found;
}
