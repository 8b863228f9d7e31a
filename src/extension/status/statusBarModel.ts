import type { HealthLevel } from '../../control/dashboardMessages.ts';
import type { CommandId } from '../contributions.ts';
import { count } from '../plainText.ts';
import { type GatewayView, summarize } from './health.ts';

export interface StatusBarModel {
  visible: boolean;
  text: string;
  /** Warning colours, only for problems that the user can fix. */
  warning: boolean;
  accessibilityLabel: string;
  headline: string;
  problems: readonly string[];
  /** Commands for the next step, as links in the tooltip. */
  links: readonly CommandId[];
}

/** View of a folder's gateway, with the title of the folder. */
interface TitledView {
  title: string;
  view: GatewayView;
}

const RUNNING_LINKS: readonly CommandId[] = ['waygate.refresh', 'waygate.reload', 'waygate.showLog'];
/** Limit for the tooltip; the dashboard shows the rest. */
const MOST_PROBLEMS = 5;

/** From the best level to the worst, which the item shows for all folders. */
const LEVELS: readonly HealthLevel[] = ['off', 'ready', 'stopping', 'starting', 'degraded', 'lost'];

/** Describes all folders in one item: the worst level, and the sum of the tools. */
export function statusBarModel(folders: readonly TitledView[]): StatusBarModel {
  const served = folders.filter(({ view: { link } }) => link.kind !== 'off');
  const untrusted = folders.some(({ view: { link } }) => link.kind === 'off' && link.reason === 'untrusted');
  const shown = (served.length > 0 ? served : folders.slice(0, 1)).map(({ title, view }) => ({
    view,
    start: served.length > 1 ? `${title}: ` : '',
    summary: summarize(view),
  }));
  const headlines = shown.map(({ start, summary }) => start + summary.headline);
  const all = shown.flatMap(({ start, summary }) => summary.problems.map((problem) => start + problem));
  const hidden = all.length - MOST_PROBLEMS;
  const problems = hidden > 0 ? [...all.slice(0, MOST_PROBLEMS), `And ${hidden} more: see the dashboard.`] : all;
  const level = shown.reduce<HealthLevel>(
    (worst, { summary }) => (LEVELS.indexOf(summary.level) > LEVELS.indexOf(worst) ? summary.level : worst),
    'off',
  );
  const views = shown.map(({ view }) => view);
  const headline =
    shown.length > 1
      ? `${count(shown.length, 'folder')}. ${headlines.join(' ')}`
      : (headlines[0] ?? 'Open a folder to use Waygate.');
  return {
    // Hidden if there is nothing to show.
    visible: served.length > 0 || untrusted,
    text: text(views, level),
    warning: level === 'degraded' || level === 'lost',
    accessibilityLabel: `Waygate: ${headline}`,
    headline,
    problems,
    links: served.length === 0 ? ['waygate.openConfiguration', 'waygate.showLog'] : RUNNING_LINKS,
  };
}

function text(views: readonly GatewayView[], level: HealthLevel): string {
  const counts = views.flatMap(({ link }) => (link.kind === 'attached' ? link.snapshot.catalog.toolCount : []));
  const tools = counts.length === 0 ? '' : ` ${counts.reduce((sum, tools) => sum + tools, 0)}`;
  switch (level) {
    case 'starting':
      return `$(loading~spin) Waygate${tools}`;
    case 'stopping':
      return '$(loading~spin) Waygate';
    case 'degraded':
      return `$(warning) Waygate${tools}`;
    case 'lost':
      return '$(debug-disconnect) Waygate';
    case 'off':
      return '$(shield) Waygate';
    default:
      return views.some(({ policy }) => policy) ? `$(circle-slash) Waygate${tools}` : `$(plug) Waygate${tools}`;
  }
}
