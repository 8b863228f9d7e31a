import type { CallRecord } from '../../control/activityContract.ts';
import type { GatewaySnapshot, ServerRemedy } from '../../control/contract.ts';
import type { DashboardAction, NeedRow, PageButton, QuarantinedServer } from '../../control/dashboardMessages.ts';
import { serverState } from '../../control/serverStates.ts';
import { count } from '../../text/porcelain.ts';
import { asSentence } from '../plainText.ts';
import { type GatewayView, isBlink } from '../status/health.ts';
import { isTroubled, type Need, needsOf } from '../status/remedies.ts';
import { isQuarantined } from '../trust/heldRows.ts';
import { toolParts } from './words.ts';

const SHOW_LOG: PageButton = { action: 'showLog', label: 'Show Log' };

/** Lists everything that waits for the user, questions first: an agent waits for their answers. */
export function needRows({ link, policy }: GatewayView, { snapshot, quarantined }: NeedSources): NeedRow[] {
  const attached = link.kind === 'attached' ? snapshot : undefined;
  const needs = attached ? needsOf(attached.servers) : [];
  return [
    ...(attached?.recentCalls ?? []).filter(({ phase }) => phase === 'waiting').map(question),
    ...gatewayNeeds(link),
    ...(policy && link.kind !== 'off' ? [need('policy', 'Policy', policy.message, [])] : []),
    ...problems(attached),
    ...needs.map((one) => serverNeed(one, quarantined)),
  ];
}

interface NeedSources {
  snapshot: GatewaySnapshot | undefined;
  quarantined: readonly QuarantinedServer[];
  now: number;
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

function serverNeed({ server, says, step }: Need, quarantined: readonly QuarantinedServer[]): NeedRow {
  const inQuarantine = !isTroubled(server) && isQuarantined(server);
  const found = inQuarantine ? quarantined.find((one) => one.server === server.name) : undefined;
  const more = found && found.more > 0 ? [{ about: count(found.more, 'more finding') }] : [];
  const button = (action: DashboardAction, label: string): PageButton => ({
    action,
    subject: server.name,
    label,
    name: `${label} ${server.name}`,
  });
  return {
    id: `server-${server.name}`,
    glyph: isTroubled(server) ? serverState(server.state).glyph : 'warning',
    subject: server.name,
    words: found ? `is in quarantine. ${asSentence(found.reason)}` : says,
    quotes: found ? [...found.findings, ...more] : [],
    buttons: [
      ...(step && server.remedy ? [button(ACTIONS[server.remedy.kind], step.button)] : []),
      ...(server.state === 'failed' && server.supervised ? [button('serverLog', 'Show Log')] : []),
    ],
  };
}

const ACTIONS: Record<ServerRemedy['kind'], DashboardAction> = {
  approve: 'approve',
  review: 'review',
  secret: 'setSecret',
  sign_in: 'signIn',
  edit: 'openServer',
  restart: 'refreshServer',
  wait: 'refreshServer',
};
