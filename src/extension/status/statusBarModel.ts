import type { ServerStatus } from '../../control/contract.ts';
import type { HealthLevel } from '../../control/dashboardMessages.ts';
import { groupDigits } from '../../text/porcelain.ts';
import type { CommandId } from '../contributions.ts';
import { plural, t } from '../l10n.ts';
import { amounts } from '../plainText.ts';
import { type GatewayView, summarize } from './health.ts';
import { needsOf, serverLabel } from './remedies.ts';

/** Line of the tooltip with the command that helps. */
export interface StatusBarNeed {
  text: string;
  link?: { label: string; command: CommandId; folder?: string; server?: ServerStatus };
}

export interface StatusBarModel {
  visible: boolean;
  text: string;
  /** Warning colours, only for what the user can end. */
  warning: boolean;
  /** Command of a click. Never stops anything. */
  command: CommandId;
  accessibilityLabel: string;
  headline: string;
  /** Cost of the definitions for a model, by folder. */
  context: readonly string[];
  /** Matters that wait for the user. */
  needs: readonly StatusBarNeed[];
  /** Commands as links in the tooltip. */
  links: readonly CommandId[];
}

/** View of a folder's gateway, with its name and the title of the folder. */
interface TitledView {
  name: string;
  title: string;
  view: GatewayView;
}

const RUNNING_LINKS: readonly CommandId[] = ['waygate.refresh', 'waygate.reload', 'waygate.showLog'];
/** Limit for the tooltip; the dashboard shows the rest. */
const MOST_NEEDS = 5;

/** From the best level to the worst, which the item shows for all folders. */
const LEVELS: readonly HealthLevel[] = ['off', 'ready', 'stopping', 'starting', 'degraded', 'lost'];

/** Describes all folders in one item, by the worst level. */
export function statusBarModel(folders: readonly TitledView[]): StatusBarModel {
  const served = folders.filter(({ view: { link } }) => link.kind !== 'off');
  const untrusted = folders.some(({ view: { link } }) => link.kind === 'off' && link.reason === 'untrusted');
  const shown = (served.length > 0 ? served : folders.slice(0, 1)).map(({ name, title, view }) => ({
    name,
    view,
    start: served.length > 1 ? `${title}: ` : '',
    summary: summarize(view),
  }));
  const questions = shown.reduce((sum, { view }) => sum + (view.questions ?? []).length, 0);
  const all = shown.flatMap(({ name, start, view, summary }) =>
    needLines(name, view, summary.problems).map((need) => ({ ...need, text: start + need.text })),
  );
  const hidden = all.length - MOST_NEEDS;
  const needs = hidden > 0 ? [...all.slice(0, MOST_NEEDS), { text: t`And ${hidden} more: see the dashboard.` }] : all;
  const level = shown.reduce<HealthLevel>(
    (worst, { summary }) => (LEVELS.indexOf(summary.level) > LEVELS.indexOf(worst) ? summary.level : worst),
    'off',
  );
  const headlines = shown.map(({ start, summary }) => start + summary.headline);
  const headline =
    shown.length > 1
      ? `${t`${shown.length} folders`}. ${headlines.join(' ')}`
      : (headlines[0] ?? t`Open a folder to use Waygate.`);
  const views = shown.map(({ view }) => view);
  const text =
    questions > 0 ? `$(question) Waygate: ${amounts.questions(questions)}` : textOf(views, level, all.length);
  return {
    // Hidden if there is nothing to show.
    visible: served.length > 0 || untrusted,
    text,
    warning: level === 'degraded' || level === 'lost' || questions > 0,
    command: questions > 0 ? 'waygate.reviewQuestions' : 'waygate.openDashboard',
    accessibilityLabel: [text.replace(/\$\([^)]*\) ?/, ''), headline].join(', '),
    headline,
    context: shown.flatMap(({ start, view }) => contextWords(view).map((words) => start + words)),
    needs,
    links: served.length === 0 ? ['waygate.openConfiguration', 'waygate.showLog'] : RUNNING_LINKS,
  };
}

/** Lists the open questions, then problems of the gateway and the configuration, then the servers. */
function needLines(
  folder: string,
  { link, questions = [] }: GatewayView,
  problems: readonly string[],
): StatusBarNeed[] {
  const servers = link.kind === 'attached' ? needsOf(link.snapshot.servers) : [];
  return [
    ...questions.map((subject) => ({
      text: t`${subject} waits for you.`,
      link: { label: t`Review…`, command: 'waygate.reviewQuestions' as const },
    })),
    ...problems.slice(0, problems.length - servers.length).map((text) => ({ text })),
    ...servers.map(({ server, says, step }) => ({
      text: `${serverLabel(server)} ${says}`,
      ...(step && { link: { label: step.button, command: step.command, folder, server } }),
    })),
  ];
}

/** Describes what the definitions cost with every request of a model. */
function contextWords({ link }: GatewayView): string[] {
  const tokens = link.kind === 'attached' ? link.snapshot.catalog.tokens : undefined;
  if (tokens === undefined || tokens.definitions <= tokens.sent) return [];
  const saved = Math.round((1 - tokens.sent / tokens.definitions) * 100);
  return [
    t`Context: about ${groupDigits(tokens.definitions)} → ${groupDigits(tokens.sent)} tokens a request (−${saved} %), definitions and instructions as sent.`,
  ];
}

function textOf(views: readonly GatewayView[], level: HealthLevel, needs: number): string {
  switch (level) {
    case 'starting':
    case 'stopping':
      return '$(loading~spin) Waygate';
    case 'lost':
      return '$(debug-disconnect) Waygate';
    case 'off':
      return '$(shield) Waygate';
    case 'degraded':
    case 'ready':
      break;
  }
  if (views.some(({ policy, link }) => policy && link.kind !== 'off')) return '$(circle-slash) Waygate';
  const isBusy = views.some(({ longCalls = 0 }) => longCalls > 0);
  if (level === 'ready') return isBusy ? '$(sync~spin) Waygate' : '$(pass) Waygate';
  // The number of servers that need the user stays visible while a call runs.
  const icon = isBusy ? '$(sync~spin)' : '$(warning)';
  return needs > 0 ? `${icon} Waygate: ${plural(needs, t`1 needs you`, t`${needs} need you`)}` : `${icon} Waygate`;
}
