import type { Figures, FromTry, Outcome, PastCall } from '../../src/control/tryMessages.ts';
import { timeOfDay } from '../../src/text/timeOfDay.ts';
import { t } from '../l10n.ts';
import { button, byId, el } from './elements.ts';
import { shown } from './words.ts';

/** Right half of the page: the last answer, the request and earlier calls. */

const TABS = ['answer', 'result', 'request'] as const;
type Tab = (typeof TABS)[number];

export function connectTabs(): void {
  const tabs = TABS.map((name) => byId(`tab-${name}`));
  tabs.forEach((tab, index) => {
    tab.addEventListener('click', () => select(TABS[index] ?? 'answer'));
    tab.addEventListener('keydown', (event) => {
      const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
      const next = TABS[(index + step + TABS.length) % TABS.length] ?? 'answer';
      if (step === 0) return;
      select(next);
      byId(`tab-${next}`).focus();
    });
  });
}

function select(chosen: Tab): void {
  for (const name of TABS) {
    const tab = byId(`tab-${name}`);
    tab.setAttribute('aria-selected', String(name === chosen));
    tab.tabIndex = name === chosen ? 0 : -1;
    byId(`panel-${name}`).hidden = name !== chosen;
  }
}

export function showRequest(request: string): void {
  byId('panel-request').replaceChildren(el('pre', { tabindex: '0', 'aria-label': t`Request` }, request));
}

/** Shows the end of a run, and returns it in words for a screen reader. */
export function showOutcome({ isError, answer, figures }: Outcome, post: (message: FromTry) => void): string {
  const text = answer.join('\n').replace(/\n$/, '');
  byId('panel-answer').replaceChildren(
    el('p', { class: isError ? 'outcome failed' : 'outcome' }),
    el('pre', { tabindex: '0', 'aria-label': t`Answer` }, text === '' ? t`The answer is empty.` : text),
  );
  select('answer');
  byId('panel-answer').scrollIntoView({ block: 'nearest' });
  return showFigures(figures, post);
}

/** Shows the figures of the answer on the page. They come with it, and once more when the worker has counted. */
export function showFigures({ durationMs, handles, tokens }: Figures, post: (message: FromTry) => void): string {
  const line = byId('panel-answer').querySelector('.outcome');
  if (line === null) return '';
  const took = duration(durationMs);
  const end = line.classList.contains('failed') ? t`Failed in ${took}` : t`Answered in ${took}`;
  const counted = tokens ? [t`${groups(tokens.came)} → ${groups(tokens.shown)} tokens`] : [];
  line.textContent = [end, ...counted].join(' · ');
  const links = handles.map((handle) =>
    el(
      'li',
      {},
      button(shown(handle, 200), () => post({ type: 'openResult', handle }), { class: 'link' }),
    ),
  );
  byId('panel-result').replaceChildren(
    ...(links.length === 0
      ? [el('p', { class: 'quiet' }, t`The answer is the whole result: nothing was left out.`)]
      : [el('p', {}, t`The answer is a part. The whole result opens as a document:`), el('ul', {}, ...links)]),
  );
  return line.textContent;
}

export function showHistory(calls: readonly PastCall[], post: (message: FromTry) => void): void {
  const rows = calls.map(({ id, at, client, isError, durationMs }) => {
    const time = timeOfDay(at);
    const words = `${isError ? t`failed` : t`ok`} · ${client === 'you' ? t`you` : shown(client, 40)} · ${duration(durationMs)}`;
    const recall = button(time, () => post({ type: 'recall', id }), {
      class: 'link',
      'aria-label': t`Use the arguments of ${time}, ${words}`,
    });
    return el('li', {}, recall, ` ${words}`);
  });
  const list =
    calls.length === 0 ? el('p', { class: 'quiet' }, t`Nothing has called this tool yet.`) : el('ul', {}, ...rows);
  byId('history').replaceChildren(list);
}

function duration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

function groups(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ',');
}
