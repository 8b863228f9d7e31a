import type { GatewaySnapshot, ServerStatus } from '../../control/contract.ts';
import { groupDigits } from '../../text/porcelain.ts';
import type { CommandId } from '../contributions.ts';
import { count } from '../plainText.ts';
import { type GatewayView, summarize } from './health.ts';
import { needsOf, serverLabel, snapshotAge } from './remedies.ts';

/** Line of the tooltip with the command that helps. */
export interface StatusBarNeed {
  text: string;
  link?: { label: string; command: CommandId; server?: ServerStatus };
}

export interface StatusBarModel {
  visible: boolean;
  text: string;
  /** Warning colours, only for problems that the user can fix. */
  warning: boolean;
  /** Command of a click. Never stops anything. */
  command: CommandId;
  accessibilityLabel: string;
  headline: string;
  /** Cost of the definitions for a model. */
  context?: string;
  /** What waits for the user. */
  needs: readonly StatusBarNeed[];
  /** Commands as links in the tooltip. */
  links: readonly CommandId[];
}

const RUNNING_LINKS: readonly CommandId[] = ['waygate.refresh', 'waygate.reload', 'waygate.showLog'];
/** Limit for the tooltip; the dashboard shows the rest. */
const MOST_NEEDS = 5;

export function statusBarModel(view: GatewayView): StatusBarModel {
  const { headline, level, problems } = summarize(view);
  const { link, questions = [] } = view;
  const untrusted = link.kind === 'off' && link.reason === 'untrusted';
  const needs = needLines(view, problems);
  const hidden = needs.length - MOST_NEEDS;
  const context = link.kind === 'attached' ? contextWords(link.snapshot) : undefined;
  const text = textOf(view, level, needs.length);
  return {
    // Hidden if there is nothing to show.
    visible: link.kind !== 'off' || untrusted,
    text,
    warning: level === 'degraded' || level === 'lost' || questions.length > 0,
    command: questions.length > 0 ? 'waygate.reviewQuestions' : 'waygate.openDashboard',
    accessibilityLabel: [text.replace(/\$\([^)]*\) ?/, ''), headline].join(', '),
    headline,
    ...(context !== undefined && { context }),
    needs: hidden > 0 ? [...needs.slice(0, MOST_NEEDS), { text: `And ${hidden} more: see the dashboard.` }] : needs,
    links: untrusted ? ['waygate.openConfiguration', 'waygate.showLog'] : RUNNING_LINKS,
  };
}

/** Lists the open questions, then problems of the gateway and the configuration, then the servers. */
function needLines({ link, questions = [] }: GatewayView, problems: readonly string[]): StatusBarNeed[] {
  const servers = link.kind === 'attached' ? needsOf(link.snapshot.servers, snapshotAge(link.snapshot)) : [];
  return [
    ...questions.map((subject) => ({
      text: `${subject} waits for you.`,
      link: { label: 'Review…', command: 'waygate.reviewQuestions' as const },
    })),
    ...problems.slice(0, problems.length - servers.length).map((text) => ({ text })),
    ...servers.map(({ server, says, step }) => ({
      text: `${serverLabel(server)} ${says}`,
      ...(step && { link: { label: step.button, command: step.command, server } }),
    })),
  ];
}

/** Describes what the definitions cost with every request of a model. */
function contextWords({ catalog: { tokens } }: GatewaySnapshot): string | undefined {
  if (tokens === undefined || tokens.definitions <= tokens.sent) return undefined;
  const saved = Math.round((1 - tokens.sent / tokens.definitions) * 100);
  return `Context: about ${groupDigits(tokens.definitions)} → ${groupDigits(tokens.sent)} tokens a request (−${saved} %), definitions and instructions as sent.`;
}

function textOf({ link, policy, questions = [], longCalls = 0 }: GatewayView, level: string, needs: number): string {
  if (questions.length > 0) return `$(question) Waygate: ${count(questions.length, 'question')}`;
  switch (level) {
    case 'starting':
    case 'stopping':
      return '$(loading~spin) Waygate';
    case 'lost':
      return '$(debug-disconnect) Waygate';
    case 'off':
      return '$(shield) Waygate';
  }
  if (policy && link.kind === 'attached') return '$(circle-slash) Waygate';
  if (longCalls > 0) return '$(sync~spin) Waygate';
  if (level === 'degraded')
    return needs > 0 ? `$(warning) Waygate: ${needs} need${needs === 1 ? 's' : ''} you` : '$(warning) Waygate';
  return '$(pass) Waygate';
}
