import type { CallRecord } from '../../control/activityContract.ts';
import type { GatewaySnapshot, ServerRemedy, ServerStatus } from '../../control/contract.ts';
import type { NeedRow, PageButton, QuarantinedServer } from '../../control/dashboardMessages.ts';
import { serverState } from '../../control/serverStates.ts';
import { count } from '../../text/porcelain.ts';
import { asSentence } from '../plainText.ts';
import { type GatewayView, isBlink } from '../status/health.ts';
import { isTroubled, needsPerson } from '../status/remedies.ts';
import { heldWords, isQuarantined } from '../trust/heldRows.ts';
import { toolParts } from './words.ts';

const SHOW_LOG: PageButton = { action: 'showLog', label: 'Show Log' };

/** Lists everything that waits for the user, questions first: an agent waits for their answers. */
export function needsOf(
  { link, policy }: GatewayView,
  snapshot: GatewaySnapshot | undefined,
  quarantined: readonly QuarantinedServer[],
): NeedRow[] {
  const attached = link.kind === 'attached' ? snapshot : undefined;
  return [
    ...(attached?.recentCalls ?? []).filter(({ phase }) => phase === 'waiting').map(question),
    ...gatewayNeeds(link),
    ...(policy && link.kind !== 'off' ? [need('policy', 'Policy', policy.message, [])] : []),
    ...problems(attached),
    ...(attached?.servers ?? []).filter(needsPerson).map((server) => serverNeed(server, quarantined)),
  ];
}

function need(id: string, subject: string, words: string, buttons: readonly PageButton[]): NeedRow {
  return { id, glyph: 'warning', subject, words, quotes: [], buttons };
}

function question({ id, toolId, subject, server, client }: CallRecord): NeedRow {
  const asked = server === undefined ? '' : ` of ${server}`;
  return {
    ...need(`question-${id}`, client, `waits for your answer: may ${toolParts(toolId ?? subject).name}${asked} run?`, [
      { action: 'answerQuestion', subject: String(id), label: 'Review…', name: `Review… the call of ${client}` },
    ]),
    glyph: 'question',
  };
}

function gatewayNeeds(link: GatewayView['link']): NeedRow[] {
  if (link.kind === 'waiting' && !isBlink(link)) {
    const buttons: PageButton[] = [{ action: 'restart', label: 'Restart Gateway' }, SHOW_LOG];
    return [{ ...need('gateway', 'Gateway', asSentence(link.reason), buttons), glyph: 'error' }];
  }
  if (link.kind !== 'off') return [];
  switch (link.reason) {
    case 'untrusted':
      return [
        need('gateway', 'Workspace', 'No server starts until you trust this workspace.', [
          { action: 'manageTrust', label: 'Manage Trust…' },
        ]),
      ];
    case 'no_configuration':
      return [
        need('gateway', 'Configuration', 'This folder has no .vscode/waygate.json yet.', [
          { action: 'createConfiguration', label: 'Create Configuration' },
        ]),
      ];
    default:
      return [];
  }
}

function problems(snapshot: GatewaySnapshot | undefined): NeedRow[] {
  return (snapshot?.configuration.problems ?? []).map(({ severity, message, location }, index) => ({
    ...need(`problem-${index}`, `waygate.json, line ${location.line}`, asSentence(message), [
      { action: 'openProblem', subject: String(index), label: 'Open Place', name: `Open Place, line ${location.line}` },
    ]),
    glyph: severity === 'error' ? 'error' : 'warning',
  }));
}

function serverNeed(server: ServerStatus, quarantined: readonly QuarantinedServer[]): NeedRow {
  const found = quarantined.find((one) => one.server === server.name);
  const inQuarantine = !isTroubled(server) && isQuarantined(server);
  const more = found && found.more > 0 ? [{ about: count(found.more, 'more finding') }] : [];
  return {
    id: `server-${server.name}`,
    glyph: inQuarantine ? 'warning' : isTroubled(server) ? serverState(server.state).glyph : 'warning',
    subject: server.name,
    words: inQuarantine
      ? `is in quarantine. ${asSentence(found?.reason ?? 'No model sees its tools.')}`
      : trouble(server),
    quotes: inQuarantine ? [...(found?.findings ?? []), ...more] : [],
    buttons: remedyButtons(server),
  };
}

function trouble(server: ServerStatus): string {
  if (!isTroubled(server)) return `waits for your review: ${heldWords(server.held ?? [])}.`;
  const { words } = serverState(server.state);
  return server.reason ? `${words}: ${asSentence(server.reason)}` : `${words}.`;
}

const REMEDIES: Record<ServerRemedy['kind'], [PageButton['action'], string]> = {
  approve: ['approve', 'Approve…'],
  review: ['review', 'Review…'],
  secret: ['setSecret', 'Set Secret…'],
  sign_in: ['signIn', 'Sign In'],
  edit: ['openServer', 'Open Place'],
  restart: ['restartServer', 'Restart'],
  wait: ['restartServer', 'Restart'],
};

/** Returns the button of the step that makes a server serve, and for a failed one that of its log. */
function remedyButtons(server: ServerStatus): PageButton[] {
  const button = ([action, label]: [PageButton['action'], string]): PageButton => ({
    action,
    subject: server.name,
    label,
    name: `${label} ${server.name}`,
  });
  const remedy = button(REMEDIES[remedyOf(server)]);
  return server.state === 'failed' && server.supervised ? [remedy, button(['serverLog', 'Show Log'])] : [remedy];
}

function remedyOf({ remedy, state, location, supervised }: ServerStatus): ServerRemedy['kind'] {
  if (remedy) return remedy.kind;
  switch (state) {
    case 'needs_approval':
      return 'approve';
    case 'needs_sign_in':
      return 'sign_in';
    case 'needs_secret':
      return 'secret';
    case 'failed':
      return location && !supervised ? 'edit' : 'restart';
    default:
      return 'review';
  }
}
