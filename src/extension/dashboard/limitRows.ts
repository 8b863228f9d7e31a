import type { LimitsReport, LimitWindow } from '../../control/activityContract.ts';
import type { LimitRow, LimitsPart, PageButton } from '../../control/dashboardMessages.ts';
import { groupDigits } from '../../text/porcelain.ts';
import { timeOfDay } from '../../text/timeOfDay.ts';
import { t } from '../l10n.ts';
import { asSentence } from '../plainText.ts';
import { toolParts, until } from './words.ts';

/** Report of the worker, or why there is none. `age` is the time since the report. */
export type KnownLimits = { report: LimitsReport; age: number } | 'unsupported' | undefined;

const OPEN: PageButton = { action: 'addLimits', label: t`Open Limits` };
const TOOL_WORDS: Readonly<Record<string, string>> = {
  tool_browse: t`Searches`,
  tool_execute: t`Calls`,
  tool_view: t`Further looks at results`,
};

export function limitsPart(limits: KnownLimits, now: number): LimitsPart {
  if (limits === undefined) return { rows: [], sentence: t`Waiting for the limits…`, buttons: [] };
  if (limits === 'unsupported') {
    return {
      rows: [],
      sentence: t`The running gateway is of an older build and does not report its limits.`,
      buttons: [{ action: 'reload', label: t`Reload Gateway` }],
    };
  }
  const { windows, unreadable } = limits.report;
  if (unreadable !== undefined) {
    const sentence = t`No call is allowed, because "rateLimits" cannot be read: ${asSentence(unreadable)}`;
    return { rows: [], sentence, buttons: [OPEN] };
  }
  if (windows.length === 0) {
    const sentence = t`No limits are set: agents may call as often as they like.`;
    return { rows: [], sentence, buttons: [{ action: 'addLimits', label: t`Add Limits…` }] };
  }
  // The tightest window is the next one to refuse a call.
  const rows = windows.map((window) => limitRow(window, { now, age: limits.age }));
  return { rows: rows.sort((a, b) => Number(b.isMet) - Number(a.isMet)), buttons: [OPEN] };
}

function limitRow(window: LimitWindow, { now, age }: { now: number; age: number }): LimitRow {
  const { session, client, scope, limit, freesInMs } = window;
  // A minute that is over counts nothing, whatever the report said.
  const frees = freesInMs === undefined ? undefined : freesInMs - age;
  const left = Math.max(0, Math.min(limit, window.left));
  const isMet = left === 0 && (frees === undefined || frees > 0);
  return {
    id: `${session ?? ''} ${scope}`,
    name: scopeWords(scope),
    of: client ?? (session === undefined ? t`all sessions` : session),
    limit,
    left,
    words: t`${groupDigits(left)} of ${groupDigits(limit)} left`,
    frees: isMet
      ? frees === undefined
        ? t`used up: needs a new session`
        : t`waits until ${timeOfDay(now + frees)}`
      : frees !== undefined && frees > 0 && left < limit
        ? t`frees in ${until(frees)}`
        : '',
    isMet,
  };
}

/** Words for the scope of a limit: `tool_execute/minute` is `Calls, a minute`. */
function scopeWords(scope: string): string {
  const cut = scope.lastIndexOf('/');
  const what = scope.slice(0, cut);
  const tool = what.startsWith('tool:') ? toolParts(what.slice('tool:'.length)) : undefined;
  const subject = tool ? [tool.namespace, tool.name].filter(Boolean).join(' ') : (TOOL_WORDS[what] ?? what);
  return scope.endsWith('/minute') ? t`${subject}, a minute` : t`${subject}, a session`;
}
