import type { ServerStatus } from '../../control/contract.ts';
import { latency, oneLine } from '../../text/porcelain.ts';
import type { CallPart } from '../documents/addresses.ts';
import { nextStep } from '../documents/faultText.ts';
import { t } from '../l10n.ts';
import { type NotificationText, notificationText } from '../notificationText.ts';
import { amounts, asSentence } from '../plainText.ts';
import type { Row, TooltipPart } from '../tree/treeRow.ts';
import { type Call, type CallGroup, callKey } from './callList.ts';

/** Row of a call's document in the tree. */
export interface PartRow {
  label: NotificationText;
  icon: string;
  part: CallPart;
}

const SHORT = 60;
/** Beginning of a request that fits a line of a tooltip, which does not wrap code. */
const MAX_REQUEST_CHARS = 80;
const WARNING = 'list.warningForeground';

interface Outcome {
  /** Word for the user, also in the filter. */
  words: string;
  /** Part of the context value. */
  id: 'waiting' | 'running' | 'ok' | 'failed' | 'lost';
  icon: { id: string; color?: string };
}

export function outcomeOf(call: Call): Outcome {
  if (call.lost) return { words: t`lost`, id: 'lost', icon: { id: 'warning', color: WARNING } };
  if (call.phase === 'waiting')
    return { words: t`waits for you`, id: 'waiting', icon: { id: 'question', color: WARNING } };
  if (call.phase === 'running') return { words: t`running`, id: 'running', icon: { id: 'sync~spin' } };
  if (call.outcome === 'ok') return { words: t`ok`, id: 'ok', icon: { id: 'pass', color: 'charts.green' } };
  if (call.errorCode === 'CANCELLED' && call.effect === 'none') {
    return { words: t`cancelled`, id: 'failed', icon: { id: 'circle-slash' } };
  }
  return {
    words: t`failed`,
    id: 'failed',
    icon:
      call.effect === 'unknown' ? { id: 'warning', color: WARNING } : { id: 'error', color: 'list.errorForeground' },
  };
}

/** Returns the name of the tool that ran, or of the gateway tool or method. */
export function toolName({ toolId, metaTool }: Call): string {
  return toolId === undefined ? metaTool : toolId.replace(/^[^:]*:/, '').replace(/#[0-9a-f]{8}$/, '');
}

/** Returns the duration so far, with the time since the last report for a call that has not ended. */
export function elapsed(call: Call, now: number): number {
  return call.phase === 'done' || call.lost ? call.durationMs : call.durationMs + Math.max(0, now - call.seenAt);
}

export function callRow(call: Call, now: number): Row {
  const { words, id, icon } = outcomeOf(call);
  const name = oneLine(toolName(call), SHORT);
  const ms = elapsed(call, now);
  const isEnded = call.phase === 'done';
  const subject = call.toolId === undefined ? oneLine(call.subject, SHORT) : '';
  const server = call.server === undefined ? '' : oneLine(call.server, SHORT);
  const state = call.outcome === 'error' ? (call.errorCode ?? words) : id === 'ok' ? '' : words;
  const parts = [
    subject,
    server,
    state,
    call.lost ? '' : isEnded ? latency(rounded(ms)) : seconds(ms),
    tokenWords(call),
  ];
  const spoken = [name, server, words, isEnded ? (call.errorCode ?? '') : '', subject, spokenTime(ms)];
  return {
    id: callKey(call),
    label: notificationText`${name}`,
    description: notificationText`${parts.filter(Boolean).join(' · ')}`,
    icon,
    contextValue: `waygate.call.${id}${contextOf(call)}`,
    accessibilityLabel: notificationText`${spoken.filter(Boolean).join(', ')}`,
  };
}

function contextOf({ toolId, metaTool }: Call): string {
  if (toolId !== undefined) return '.tool';
  return metaTool === 'tool_browse' ? '.browse' : '';
}

/** `time` formats a time of day. `folder` is the title of the folder, if the window has several gateways. */
export function groupRow({ key, client, at, calls }: CallGroup, time: (at: number) => string, folder?: string): Row {
  const name = client === 'you' ? t`You` : oneLine(client, SHORT) || t`unnamed client`;
  const amount = [amounts.calls(calls.length), ...(folder === undefined ? [] : [folder])].join(' · ');
  return {
    id: key,
    label: notificationText`${name} · ${time(at)}`,
    description: notificationText`${amount}`,
    icon: { id: client === 'you' ? 'account' : 'comment-discussion' },
    contextValue: 'waygate.callGroup',
    accessibilityLabel: notificationText`${name}, since ${time(at)}, ${amount}`,
  };
}

/** Documents of a call, except its results. */
export function partRows(call: Call): PartRow[] {
  const isEnded = call.phase === 'done';
  const hasFault = call.lost || call.outcome === 'error';
  return [
    { label: notificationText`Request`, icon: 'arrow-right', part: 'request.json' },
    ...(isEnded
      ? [{ label: notificationText`Answer as the model saw it`, icon: 'arrow-left', part: 'answer.txt' as const }]
      : []),
    ...(hasFault ? [{ label: notificationText`Fault`, icon: 'bug', part: 'fault.md' as const }] : []),
    ...(isEnded ? [{ label: notificationText`Attempts`, icon: 'history', part: 'attempts.md' as const }] : []),
  ];
}

/** Returns the document that a row opens: the fault of a call that failed, else the answer, else the request. */
export function mainPart(call: Call): CallPart {
  if (call.lost || call.outcome === 'error') return 'fault.md';
  return call.phase === 'done' ? 'answer.txt' : 'request.json';
}

/** Facts around a call: its server as it is now, and its arguments as JSON. */
export interface CallSurroundings {
  server?: ServerStatus | undefined;
  request?: string | undefined;
}

/** Describes a call for the pointer. */
export function callTooltip(call: Call, { server, request }: CallSurroundings): TooltipPart[] {
  const { words } = outcomeOf(call);
  const isFailed = call.lost || call.outcome === 'error';
  const next = isFailed ? nextStep(call, server, call.lost === true) : undefined;
  return [
    { style: 'title', text: `${oneLine(toolName(call), SHORT)}: ${call.errorCode ?? words}` },
    { style: 'code', text: oneLine(call.subject, 500) },
    ...(request === undefined || request === '{}'
      ? []
      : [{ style: 'code' as const, text: oneLine(request, MAX_REQUEST_CHARS) }]),
    ...(call.errorMessage ? [{ style: 'text' as const, text: asSentence(call.errorMessage) }] : []),
    ...(call.lost
      ? [{ style: 'text' as const, text: t`The gateway ended during the call, so its end is unknown.` }]
      : []),
    ...(next === undefined ? [] : [{ style: 'text' as const, text: next }]),
    ...(call.attempts > 1 ? [{ style: 'text' as const, text: t`The gateway tried ${call.attempts} times.` }] : []),
  ];
}

function tokenWords({ tokensIn, tokensOut }: Call): string {
  if (tokensOut === undefined) return '';
  return tokensIn === undefined || tokensIn === tokensOut
    ? t`${tokens(tokensOut)} tokens`
    : t`${tokens(tokensIn)} → ${tokens(tokensOut)} tokens`;
}

function tokens(amount: number): string {
  return amount < 1_000 ? String(amount) : `${(amount / 1_000).toFixed(amount < 100_000 ? 1 : 0)}k`;
}

function seconds(ms: number): string {
  return `${Math.floor(ms / 1_000)} s`;
}

/** Rounds to a precision that a person needs. */
function rounded(ms: number): number {
  return ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms);
}

/** Spells the unit out, because screen readers read `ms` as letters. */
function spokenTime(ms: number): string {
  const [amount = '', unit] = latency(rounded(ms)).split(' ');
  return `${amount} ${unit === 'ms' ? 'milliseconds' : 'seconds'}`;
}
