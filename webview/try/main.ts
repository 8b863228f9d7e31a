import { type FromTry, parseToTry, type ToTry, type TriedTool, type Verdict } from '../../src/control/tryMessages.ts';
import { SECRET_MASK } from '../../src/secrets/names.ts';
import { plural, t } from '../l10n.ts';
import { connectTabs, showFigures, showHistory, showOutcome, showRequest } from './answer.ts';
import { drawField } from './controls.ts';
import { type Draft, draftOf, emptyDraft, parseDraft, readDraft, withoutSecrets } from './drafts.ts';
import { byId, el, longText } from './elements.ts';
import { argumentsField, type Field, jsonText } from './fields.ts';
import { showProblems } from './problems.ts';
import { shown } from './words.ts';

interface Kept {
  folder: string;
  toolId: string;
  draft: unknown;
}

declare function acquireVsCodeApi(): {
  postMessage(message: FromTry): void;
  getState(): Kept | undefined;
  setState(state: Kept): void;
};

const vscode = acquireVsCodeApi();
const post = (message: FromTry): void => vscode.postMessage(message);

/** Pause after the last key before the worker checks the arguments. */
const CHECK_DELAY_MS = 300;
/** Limit of the request on the page; copying takes all of it. */
const MAX_REQUEST_CHARS = 100_000;
const MAX_DESCRIPTION_CHARS = 10_000;

const form = byId('form');
const run = byId('run');
const cancel = byId('cancel');
const status = byId('status');
const live = byId('live');

let tool: TriedTool | undefined;
let field: Field = argumentsField({});
let draft: Draft = emptyDraft(field);
let verdict: Verdict | undefined;
let check = 0;
let timer: ReturnType<typeof setTimeout> | undefined;
let clock: ReturnType<typeof setInterval> | undefined;
let startedAt: number | undefined;
/** Fields that the user has come to; all of them after an attempt to run. */
const visited = new Set<string>();
let isSubmitted = false;
/** The next press runs a tool that may change something. */
let isArmed = false;

addEventListener('message', (event: MessageEvent<unknown>) => {
  const message = parseToTry(event.data);
  if (message !== undefined) receive(message);
});
connectTabs();
run.addEventListener('click', (event) => {
  // The second click of a double click confirms nothing.
  if (event.detail <= 1) press();
});
run.addEventListener('keydown', (event) => {
  if (event.repeat) event.preventDefault();
});
run.addEventListener('blur', () => arm(false));
cancel.addEventListener('click', () => post({ type: 'cancel' }));
byId('copy').addEventListener('click', () => withArguments((json) => post({ type: 'copy', json })));
form.addEventListener('focusout', (event) => {
  const left = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-path]') : null;
  if (left === null || visited.has(left.dataset.path ?? '')) return;
  visited.add(left.dataset.path ?? '');
  // A button that moves while it is being pressed gets no click.
  if (!(event.relatedTarget instanceof HTMLButtonElement)) showVerdict();
});
addEventListener('keydown', (event) => {
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.repeat) {
    event.preventDefault();
    run.focus();
    press();
  }
});
post({ type: 'ready' });

function receive(message: ToTry): void {
  switch (message.type) {
    case 'tool':
      showTool(JSON.parse(message.json) as TriedTool);
      break;
    case 'unavailable':
      if (tool === undefined) byId('description').textContent = message.reason;
      else say(message.reason);
      break;
    case 'arguments':
      fill(message.json);
      break;
    case 'notice':
      say(message.text);
      break;
    case 'verdict':
      if (message.check === check) judge(message.verdict);
      break;
    case 'running':
      begin(message.waits);
      break;
    case 'outcome':
      end();
      announce(showOutcome(message.outcome, post));
      break;
    case 'figures':
      showFigures(message.figures, post);
      break;
    case 'history':
      showHistory(message.calls, post);
  }
}

function showTool(next: TriedTool): void {
  const before = tool;
  tool = next;
  byId('name').textContent = shown(next.name, 200);
  byId('place').textContent = [shown(next.server, 100), next.title && shown(next.title, 200), SAFETY[next.safety]]
    .filter(Boolean)
    .join(' · ');
  byId('description').replaceChildren(longText(shown(next.description, MAX_DESCRIPTION_CHARS)));
  arm(false);
  if (before !== undefined && jsonText(before.schema) === jsonText(next.schema)) return;
  const value = before && readDraft(field, draft).value;
  field = argumentsField(next.schema);
  const kept = vscode.getState();
  const restored = before === undefined && kept?.toolId === next.toolId ? parseDraft(kept.draft) : undefined;
  draft = restored ?? (value === undefined ? emptyDraft(field) : draftOf(field, value));
  drawForm();
  changed(restored === undefined && before === undefined);
}

const SAFETY: Readonly<Record<TriedTool['safety'], string>> = {
  read_only: t`declared read-only`,
  destructive: t`declared destructive`,
  '': t`effect unknown`,
};

function drawForm(): void {
  const onChange = (next: Draft): void => {
    draft = next;
    changed(false);
  };
  const root = drawField(field, draft, { path: [], onChange });
  form.replaceChildren(root);
}

/** Fills the form with arguments of an earlier call, whose secrets are masked. */
function fill(json: string): void {
  let masked = 0;
  const value: unknown = JSON.parse(json, (_, member: unknown) => {
    if (typeof member !== 'string' || !member.includes(SECRET_MASK)) return member;
    masked += 1;
    return undefined;
  });
  draft = draftOf(field, value);
  isSubmitted = false;
  visited.clear();
  drawForm();
  changed(false);
  say(
    masked === 0
      ? t`The arguments are filled in.`
      : t`The arguments are filled in, except for secrets, which are not kept.`,
  );
}

/** Keeps the input and has it checked, after the pause unless nothing was typed. */
function changed(isFirst: boolean): void {
  if (tool !== undefined)
    vscode.setState({ folder: tool.folder, toolId: tool.toolId, draft: withoutSecrets(field, draft) });
  arm(false);
  say('');
  verdict = undefined;
  check += 1;
  // Tests wait for the check of the form as it is.
  document.documentElement.dataset.check = String(check);
  clearTimeout(timer);
  showVerdict();
  timer = setTimeout(() => withArguments((json) => post({ type: 'check', check, json })), isFirst ? 0 : CHECK_DELAY_MS);
}

function withArguments(use: (json: string) => void): void {
  const { value, problems } = readDraft(field, draft);
  if (problems.length === 0) use(jsonText(value));
}

function judge(next: Verdict): void {
  verdict = next;
  showVerdict();
}

function showVerdict(): void {
  const { problems: broken } = readDraft(field, draft);
  const found = verdict?.kind === 'invalid' ? verdict.problems : [];
  const isDue = ({ dataset }: HTMLElement): boolean => isSubmitted || visited.has(dataset.path ?? '');
  // A text that is no value is being typed.
  for (const { path } of broken) visited.add(JSON.stringify(path));
  const waiting = showProblems(form, [...broken, ...found], isDue);
  run.setAttribute('aria-disabled', String(broken.length > 0 || startedAt !== undefined));
  const request = jsonText({ tool_id: tool?.toolId, args: broken.length > 0 ? '…' : withoutSecretValues() }, 2);
  showRequest(request.length > MAX_REQUEST_CHARS ? `${request.slice(0, MAX_REQUEST_CHARS)}…` : request);
  if (startedAt === undefined) status.textContent = statusWords(broken.length, waiting.length);
}

/** Returns the arguments as the state has them. */
function withoutSecretValues(): unknown {
  return readDraft(field, withoutSecrets(field, draft)).value;
}

function statusWords(broken: number, waiting: number): string {
  if (broken > 0) return '';
  switch (verdict?.kind) {
    case 'valid':
      return verdict.notes.join(' · ');
    case 'refused':
      return verdict.reason;
    case 'unknown':
      return t`Not checked: ${verdict.reason}`;
    case 'invalid': {
      return [
        ...(waiting === 0 ? [] : [t`${waiting} more to fill in or correct`]),
        ...(verdict.more > 0 ? [plural(verdict.more, t`1 more problem`, t`${verdict.more} more problems`)] : []),
      ].join(' · ');
    }
    default:
      return '';
  }
}

/** First press of a tool that may change something asks; the second one runs. */
function press(): void {
  if (run.ariaDisabled === 'true' || tool === undefined) return;
  if (verdict?.kind === 'invalid') {
    isSubmitted = true;
    showVerdict();
    byId('problems').focus();
    return;
  }
  const isConfirmed = isArmed || tool.safety === 'read_only';
  arm(!isConfirmed);
  if (isConfirmed) withArguments((json) => post({ type: 'run', json }));
}

function arm(next: boolean): void {
  isArmed = next;
  run.textContent = next ? t`Run ${shown(tool?.name ?? '', 60)}?` : t`Run`;
  run.classList.toggle('armed', next);
}

function begin(waits: boolean): void {
  if (startedAt === undefined) announce(t`Running`);
  startedAt ??= Date.now();
  const from = startedAt;
  run.setAttribute('aria-disabled', 'true');
  cancel.hidden = false;
  const tick = (): void => {
    const seconds = Math.round((Date.now() - from) / 1_000);
    status.textContent = waits ? t`Waiting for your answer to the question about this call` : t`Running… ${seconds} s`;
  };
  tick();
  clearInterval(clock);
  clock = setInterval(tick, 1_000);
}

function end(): void {
  startedAt = undefined;
  clearInterval(clock);
  if (document.activeElement === cancel) run.focus();
  cancel.hidden = true;
  showVerdict();
}

function say(text: string): void {
  byId('notice').replaceChildren(...(text === '' ? [] : [el('p', {}, text)]));
}

function announce(text: string): void {
  live.textContent = text;
}
