import type { CallRecord } from '../../control/activityContract.ts';
import type { GatewaySnapshot } from '../../control/contract.ts';
import type { NeedRow, PageButton, QuarantinedServer } from '../../control/dashboardMessages.ts';
import { serverState } from '../../control/serverStates.ts';
import { groupDigits } from '../../text/porcelain.ts';
import { plural, t } from '../l10n.ts';
import { asSentence } from '../plainText.ts';
import { type GatewayView, isBlink } from '../status/health.ts';
import { isTroubled, type Need, needsOf } from '../status/remedies.ts';
import { isQuarantined } from '../trust/heldRows.ts';
import { serverButton } from './serverRows.ts';
import { toolParts } from './words.ts';

const SHOW_LOG: PageButton = { action: 'showLog', label: t`Show Log` };

/** Lists everything that waits for the user, questions first: an agent waits for their answers. */
export function needRows({ link, policy }: GatewayView, { snapshot, quarantined }: NeedSources): NeedRow[] {
  const attached = link.kind === 'attached' ? snapshot : undefined;
  const needs = attached ? needsOf(attached.servers) : [];
  return [
    ...(attached?.recentCalls ?? []).filter(({ phase }) => phase === 'waiting').map(question),
    ...gatewayNeeds(link),
    ...(policy && link.kind !== 'off' ? [need('policy', t`Policy`, policy.message, [])] : []),
    ...problems(attached),
    ...needs.map((one) => serverNeed(one, quarantined)),
  ];
}

interface NeedSources {
  snapshot: GatewaySnapshot | undefined;
  quarantined: readonly QuarantinedServer[];
}

function need(id: string, subject: string, words: string, buttons: readonly PageButton[]): NeedRow {
  return { id, glyph: 'warning', subject, words, quotes: [], buttons };
}

function question({ id, toolId, subject, server, client }: CallRecord): NeedRow {
  const { name } = toolParts(toolId ?? subject);
  const words =
    server === undefined
      ? t`waits for your answer: may ${name} run?`
      : t`waits for your answer: may ${name} of ${server} run?`;
  return {
    ...need(`question-${id}`, client, words, [
      { action: 'answerQuestion', subject: String(id), label: t`Review…`, name: t`Review… the call of ${client}` },
    ]),
    glyph: 'question',
  };
}

function gatewayNeeds(link: GatewayView['link']): NeedRow[] {
  if (link.kind === 'waiting' && !isBlink(link)) {
    const buttons: PageButton[] = [{ action: 'restart', label: t`Restart Gateway` }, SHOW_LOG];
    return [{ ...need('gateway', t`Gateway`, asSentence(link.reason), buttons), glyph: 'error' }];
  }
  if (link.kind !== 'off') return [];
  switch (link.reason) {
    case 'untrusted':
      return [
        need('gateway', t`Workspace`, t`No server starts until you trust this workspace.`, [
          { action: 'manageTrust', label: t`Manage Trust…` },
        ]),
      ];
    case 'no_configuration':
      return [
        need('gateway', t`Configuration`, t`This folder has no .vscode/waygate.json yet.`, [
          { action: 'createConfiguration', label: t`Create Configuration` },
        ]),
      ];
    default:
      return [];
  }
}

function problems(snapshot: GatewaySnapshot | undefined): NeedRow[] {
  return (snapshot?.configuration.problems ?? []).map(({ severity, message, location }, index) => ({
    ...need(`problem-${index}`, t`waygate.json, line ${location.line}`, asSentence(message), [
      {
        action: 'openProblem',
        subject: String(index),
        label: t`Open Place`,
        name: t`Open Place, line ${location.line}`,
      },
    ]),
    glyph: severity === 'error' ? 'error' : 'warning',
  }));
}

function serverNeed({ server, says, step }: Need, quarantined: readonly QuarantinedServer[]): NeedRow {
  const inQuarantine = !isTroubled(server) && isQuarantined(server);
  const found = inQuarantine ? quarantined.find((one) => one.server === server.name) : undefined;
  const more =
    found && found.more > 0
      ? [{ about: plural(found.more, t`1 more finding`, t`${groupDigits(found.more)} more findings`) }]
      : [];
  return {
    id: `server-${server.name}`,
    glyph: isTroubled(server) ? serverState(server.state).glyph : 'warning',
    subject: server.name,
    words: found ? t`is in quarantine. ${asSentence(found.reason)}` : says,
    quotes: found ? [...found.findings, ...more] : [],
    buttons: [
      ...(step ? [serverButton(server.name, step.action, step.button)] : []),
      ...(server.state === 'failed' && server.supervised ? [serverButton(server.name, 'serverLog', t`Show Log`)] : []),
    ],
  };
}
