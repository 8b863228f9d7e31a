import type { Part, Row } from './part.ts';

interface Drawn {
  element: HTMLElement;
  frame: string;
  rows: Map<string, { element: HTMLElement; html: string }>;
}

/**
 * Draws parts into the main landmark of a page, and later only what differs: a row, the frame of a part, a part. Compares markup with the
 * markup drawn last, so that an unchanged row is neither parsed nor touched. Focus and scroll position stay.
 */
export class Redraw {
  readonly #page: HTMLElement;
  readonly #root = document.createElement('main');
  #parts = new Map<string, Drawn>();

  /** `page` shows its own content until the first parts. */
  constructor(page: HTMLElement) {
    this.#page = page;
  }

  draw(parts: readonly Part[]): void {
    const focused = this.#root.contains(document.activeElement) ? document.activeElement?.id : undefined;
    if (!this.#root.isConnected) this.#page.replaceChildren(this.#root);
    const next = new Map<string, Drawn>();
    for (const part of parts) next.set(part.name, this.#drawPart(part, this.#parts.get(part.name)));
    for (const [name, { element }] of this.#parts) if (next.get(name)?.element !== element) element.remove();
    placeInOrder(
      this.#root,
      [...next.values()].map(({ element }) => element),
    );
    this.#parts = next;
    if (focused && document.activeElement?.id !== focused) {
      document.getElementById(focused)?.focus({ preventScroll: true });
    }
  }

  #drawPart(part: Part, before: Drawn | undefined): Drawn {
    const drawn =
      before?.frame === part.frame ? before : { element: parsed(part.frame), frame: part.frame, rows: new Map() };
    const holder = drawn.element.querySelector<HTMLElement>('[data-rows]');
    if (holder) drawRows(holder, drawn.rows, part.rows);
    return drawn;
  }
}

function drawRows(holder: HTMLElement, drawn: Drawn['rows'], rows: readonly Row[]): void {
  const keys = new Set(rows.map(({ key }) => key));
  for (const [key, { element }] of drawn) {
    if (keys.has(key)) continue;
    element.remove();
    drawn.delete(key);
  }
  for (const { key, html } of rows) {
    const before = drawn.get(key);
    if (before?.html === html) continue;
    const element = parsed(html);
    before?.element.replaceWith(element);
    drawn.set(key, { element, html });
  }
  placeInOrder(
    holder,
    rows.flatMap(({ key }) => drawn.get(key)?.element ?? []),
  );
}

/** Moves only elements that are not at their place, behind a heading. */
function placeInOrder(parent: HTMLElement, elements: readonly HTMLElement[]): void {
  let place = parent.querySelector(':scope > :not([data-fixed])');
  for (const element of elements) {
    if (element === place) place = place.nextElementSibling;
    else parent.insertBefore(element, place);
  }
}

function parsed(html: string): HTMLElement {
  const template = document.createElement('template');
  template.innerHTML = html;
  return template.content.firstElementChild as HTMLElement;
}
