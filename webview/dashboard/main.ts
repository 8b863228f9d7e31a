import {
  DASHBOARD_ACTIONS,
  type DashboardState,
  type FromDashboard,
  parseToDashboard,
} from '../../src/control/dashboardMessages.ts';
import { render } from './render.ts';

declare function acquireVsCodeApi(): { postMessage(message: FromDashboard): void; setState(state: unknown): void };

const vscode = acquireVsCodeApi();
const page = element('page');
const live = element('live');
/** Markup of each part as it was drawn last; the document's own serialisation differs. */
const drawn = new Map<string, string>();

addEventListener('message', (event: MessageEvent<unknown>) => {
  const message = parseToDashboard(event.data);
  if (message !== undefined) draw(message.state);
});

addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest('button') : null;
  // `disabled` would take the focus away from the button, so `aria-disabled` is used.
  if (button === null || button.ariaDisabled === 'true') return;
  const { action, openServer, openProblem } = button.dataset;
  const known = DASHBOARD_ACTIONS.find((name) => name === action);
  if (known !== undefined) vscode.postMessage({ type: 'action', action: known });
  else if (openServer !== undefined) vscode.postMessage({ type: 'openServer', server: openServer });
  else if (openProblem !== undefined) vscode.postMessage({ type: 'openProblem', index: Number(openProblem) });
});

// Makes the editor restore the page after a restart; the state is requested anew.
vscode.setState({});
vscode.postMessage({ type: 'ready' });

function draw(state: DashboardState): void {
  const next = document.createElement('template');
  next.innerHTML = render(state);
  const parts = new Map(partsOf(next.content).map((part) => [part.dataset.part ?? '', part]));
  const shape = [...parts.keys()].join();
  const now = partsOf(page);
  if (shape !== now.map((part) => part.dataset.part).join()) {
    for (const [name, part] of parts) drawn.set(name, part.outerHTML);
    keepingPlace(page, () => page.replaceChildren(next.content));
  } else {
    for (const part of now) replaceWhenChanged(part, parts.get(part.dataset.part ?? ''));
  }
  announce(state.summary.headline);
}

function replaceWhenChanged(part: HTMLElement, next: HTMLElement | undefined): void {
  if (next === undefined) return;
  const name = next.dataset.part ?? '';
  if (drawn.get(name) === next.outerHTML) return;
  drawn.set(name, next.outerHTML);
  keepingPlace(part, () => part.replaceWith(next));
}

/** Replaces content but keeps the focus of a button and opened details. */
function keepingPlace(root: HTMLElement, replace: () => void): void {
  const focused = root.contains(document.activeElement) ? document.activeElement?.id : undefined;
  const open = [...root.querySelectorAll<HTMLElement>('[data-server]:has(details[open])')].map(
    (row) => row.dataset.server,
  );
  replace();
  for (const row of page.querySelectorAll<HTMLElement>('[data-server]')) {
    if (open.includes(row.dataset.server)) row.querySelector('details')?.setAttribute('open', '');
  }
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

/** Updates the live region only with a new headline, because every write is announced. */
function announce(headline: string): void {
  if (live.textContent !== headline) live.textContent = headline;
}

function partsOf(root: ParentNode): HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>('[data-part]')];
}

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The dashboard page has no element "${id}".`);
  return found;
}
