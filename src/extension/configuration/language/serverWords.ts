import type { CallRecord, LimitWindow } from '../../../control/activityContract.ts';
import type { ServerRemedy, ServerStatus } from '../../../control/contract.ts';
import { serverState } from '../../../control/serverStates.ts';
import { duration, groupDigits, latency, oneLine } from '../../../text/porcelain.ts';
import { visibleText } from '../../../text/visibleText.ts';
import type { CommandId } from '../../contributions.ts';
import { t, translated } from '../../l10n.ts';
import { type MarkdownText, markdownText, notificationText } from '../../notificationText.ts';
import { amounts, asSentence, shortTokens } from '../../plainText.ts';
import { remedyStep } from '../../status/remedies.ts';
import { lastFault } from '../../tree/serverRow.ts';
import type { ConfigurationText, Piece } from './configurationText.ts';

/** Button for a command of one server. */
export interface ServerButton {
  title: string;
  command: CommandId;
}

/** Remedies that have a button here. The place to edit is this file, and *Restart* stands for the others. */
const WITH_BUTTON: readonly ServerRemedy['kind'][] = ['approve', 'review', 'secret', 'sign_in'];

/** Returns the step that makes a server serve, where a command carries it out. */
export function remedyButton(server: ServerStatus): ServerButton | undefined {
  const step = remedyStep(server);
  if (!server.remedy || !step || !WITH_BUTTON.includes(server.remedy.kind)) return undefined;
  return { title: step.button, command: step.command };
}

/** Returns the buttons of a server: the step that it needs, or the ones for a server that works or failed. */
export function serverButtons(server: ServerStatus): ServerButton[] {
  const remedy = remedyButton(server);
  const canRestart = server.state === 'ready' || server.remedy?.kind === 'restart' || server.remedy?.kind === 'wait';
  return [
    ...(remedy ? [remedy] : []),
    ...(canRestart ? [{ title: t`Restart`, command: 'waygate.restartServer' as const }] : []),
    ...(server.kind === 'stdio' && server.state !== 'disabled'
      ? [{ title: t`Log`, command: 'waygate.openServerLog' as const }]
      : []),
  ];
}

const GLYPHS = {
  check: 'pass',
  progress: 'sync~spin',
  circle: 'circle-outline',
  slash: 'circle-slash',
  error: 'error',
  warning: 'warning',
} as const;

/** Line above the name of a server. Without a command it is text. */
export interface ServerLens extends Piece {
  title: string;
  command?: CommandId;
  server?: string;
}

/** Matches names as JSON decodes them. The worker escapes the hidden characters of a name that it refuses. */
export function statusOf(servers: readonly ServerStatus[], name: string): ServerStatus | undefined {
  return servers.find((server) => server.name === name) ?? servers.find((server) => server.name === visibleText(name));
}

/** `servers` are those that this file configures. */
export function serverLenses(
  { servers: entries }: ConfigurationText,
  servers: readonly ServerStatus[],
  isDirty: boolean,
): ServerLens[] {
  return entries.flatMap(({ name, offset, length }): ServerLens[] => {
    const at = { offset, length };
    const server = statusOf(servers, name);
    if (!server) return [{ ...at, title: isDirty ? t`not read yet: save` : t`not read yet` }];
    const summary = { ...at, title: summaryOf(server), command: 'waygate.revealServer' as const, server: server.name };
    return [summary, ...serverButtons(server).map((button) => ({ ...at, ...button, server: server.name }))];
  });
}

function summaryOf(server: ServerStatus): string {
  const { glyph } = serverState(server.state);
  return `$(${GLYPHS[glyph]})\u00a0${notificationText`${factsOf(server).join(' · ')}`}`;
}

function factsOf({ state, toolCount, definitionTokens = 0, supervised, unlisted }: ServerStatus): string[] {
  const restarts = supervised?.restart_count ?? 0;
  return [
    translated(serverState(state).words),
    ...(toolCount > 0 && !unlisted ? [amounts.tools(toolCount)] : []),
    ...(definitionTokens > 0 ? [t`${shortTokens(definitionTokens)} tokens`] : []),
    ...(state !== 'ready' && restarts > 0 ? [amounts.restarts(restarts)] : []),
  ];
}

const STDERR_LINES = 5;

/** Text for the pointer: lines of Markdown, then lines as they came. */
export interface HoverText {
  lines: readonly MarkdownText[];
  code?: string;
}

/** Describes a server for the pointer on its name. `lastCall` is undefined where no call is kept. */
export function serverHover(server: ServerStatus, lastCall: CallRecord | undefined, now: number): HoverText {
  const { supervised, since, reason, calls = 0, errors = 0, p95Ms, stderr = [] } = server;
  const fault = lastFault(server);
  const wait = server.nextTryAt === undefined ? undefined : Math.max(0, server.nextTryAt - now);
  const used = [
    amounts.calls(calls),
    amounts.errors(errors),
    ...(p95Ms === undefined ? [] : [t`95 of 100 within ${latency(p95Ms)}`]),
  ];
  const lines = [
    ...(reason ? [asSentence(reason)] : []),
    ...(since > 0 ? [t`In this state for ${duration(now - since)}.`] : []),
    ...(supervised && supervised.restart_count > 0
      ? [
          wait === undefined
            ? `${amounts.restarts(supervised.restart_count)}.`
            : t`${amounts.restarts(supervised.restart_count)}, next try in ${duration(wait)}.`,
        ]
      : []),
    ...(fault ? [t`Last fault: ${asSentence(fault)}`] : []),
    ...(calls > 0 ? [`${used.join(', ')}.`] : []),
    ...(lastCall ? [callWords(lastCall, now)] : []),
  ];
  return {
    lines: [
      markdownText`**${oneLine(server.name, 60)}**: ${factsOf(server).join(' · ')}`,
      ...lines.map((line) => markdownText`${oneLine(line, 500)}`),
      ...(stderr.length > 0 ? [markdownText`Its last lines on stderr:`] : []),
    ],
    ...(stderr.length > 0 && {
      code: stderr
        .slice(-STDERR_LINES)
        .map((line) => oneLine(line, 300))
        .join('\n'),
    }),
  };
}

function callWords({ toolId, subject, at, durationMs, phase, outcome, errorCode }: CallRecord, now: number): string {
  const name = oneLine(toolId ?? subject, 100);
  if (phase === 'waiting') return t`Last call: ${name}, waiting for ${duration(durationMs)}.`;
  if (phase !== 'done') return t`Last call: ${name}, running for ${duration(durationMs)}.`;
  const age = duration(now - at - durationMs);
  if (outcome !== 'error') return t`Last call: ${name} succeeded after ${latency(durationMs)}, ${age} ago.`;
  return errorCode
    ? t`Last call: ${name} failed with ${errorCode} after ${latency(durationMs)}, ${age} ago.`
    : t`Last call: ${name} failed after ${latency(durationMs)}, ${age} ago.`;
}

/** Describes what is left now in the windows of a limit, which the pointer is on. */
export function limitHover(windows: readonly LimitWindow[], scopes: readonly string[]): MarkdownText[] {
  const here = windows.filter(({ scope }) => scopes.includes(scope));
  if (here.length === 0) return [markdownText`No call has counted against this limit yet.`];
  return here.map(({ scope, client, limit, left, freesInMs }) => {
    const [some, all] = [groupDigits(left), groupDigits(limit)];
    const words = [
      scope.endsWith('/minute')
        ? t`${some} of ${all} calls left in this minute`
        : t`${some} of ${all} calls left in this session`,
      ...(client === undefined ? [] : [`(${oneLine(client, 60)})`]),
    ].join(' ');
    return freesInMs === undefined ? markdownText`${words}.` : markdownText`${words}; more in ${duration(freesInMs)}.`;
  });
}

/** Describes a reference to a secret. */
export function secretHover(name: string, isSet: boolean): MarkdownText {
  return isSet
    ? markdownText`The secret **${name}** is set.`
    : markdownText`The secret **${name}** is not set, so a server that needs it does not start.`;
}
