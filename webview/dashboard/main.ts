import {
  DASHBOARD_ACTIONS,
  type DashboardState,
  type FromDashboard,
  parseToDashboard,
} from '../../src/control/dashboardMessages.ts';
import { Redraw } from './redraw.ts';
import { render } from './render.ts';
import { parseSorting, type Sorting, sortedBy } from './toolsTable.ts';

/** State that VS Code keeps for a page that it unloads or restores. */
interface KeptState {
  sorting: Sorting;
  open: readonly string[];
}

declare function acquireVsCodeApi(): {
  postMessage(message: FromDashboard): void;
  getState(): Partial<KeptState> | undefined;
  setState(state: KeptState): void;
};

const vscode = acquireVsCodeApi();
const redraw = new Redraw(element('page'));
const live = element('live');
const kept = vscode.getState();
let sorting = parseSorting(kept?.sorting);
const open = new Set(Array.isArray(kept?.open) ? kept.open.map(String) : []);
let state: DashboardState | undefined;
/** The pointer is down: a redrawn button would lose the click. */
let isPressed = false;

addEventListener('message', (event: MessageEvent<unknown>) => {
  const message = parseToDashboard(event.data);
  if (message === undefined) return;
  state = message.state;
  if (!isPressed) draw();
});

addEventListener('pointerdown', () => {
  isPressed = true;
});
for (const end of ['pointerup', 'pointercancel', 'blur']) {
  addEventListener(end, () => {
    if (!isPressed) return;
    isPressed = false;
    // The click follows the release.
    setTimeout(draw);
  });
}

addEventListener('click', (event) => {
  const button = event.target instanceof Element ? event.target.closest('button') : null;
  // `disabled` would take the focus away from the button, so `aria-disabled` is used.
  if (button === null || button.ariaDisabled === 'true') return;
  const { action, subject, sort, toggle } = button.dataset;
  const known = DASHBOARD_ACTIONS.find((name) => name === action);
  if (known !== undefined) {
    vscode.postMessage({ type: 'action', action: known, ...(subject !== undefined && { subject }) });
    return;
  }
  if (sort !== undefined) sorting = sortedBy(sorting, sort);
  else if (toggle === undefined) return;
  else if (!open.delete(toggle)) open.add(toggle);
  keep();
  draw();
});

keep();
vscode.postMessage({ type: 'ready' });

function draw(): void {
  if (state === undefined) return;
  redraw.draw(render(state, { sorting, open }));
  // Every write is announced, so only a new headline is written.
  const { headline } = state.now;
  if (live.textContent !== headline) live.textContent = headline;
}

/** Keeps the user's choices. Without any state, VS Code would not restore the page; the gateway's state is asked anew. */
function keep(): void {
  vscode.setState({ sorting, open: [...open] });
}

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`The dashboard page has no element "${id}".`);
  return found;
}
