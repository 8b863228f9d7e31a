import type { CommandId } from '../contributions.ts';
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

const RUNNING_LINKS: readonly CommandId[] = ['waygate.refresh', 'waygate.reload', 'waygate.showLog'];
/** Limit for the tooltip; the dashboard shows the rest. */
const MOST_PROBLEMS = 5;

export function statusBarModel(view: GatewayView): StatusBarModel {
  const summary = summarize(view);
  const { link } = view;
  const untrusted = link.kind === 'off' && link.reason === 'untrusted';
  const hidden = summary.problems.length - MOST_PROBLEMS;
  const problems =
    hidden > 0
      ? [...summary.problems.slice(0, MOST_PROBLEMS), `And ${hidden} more: see the dashboard.`]
      : summary.problems;
  return {
    // Hidden if there is nothing to show.
    visible: link.kind !== 'off' || untrusted,
    text: text(view, summary.level),
    warning: summary.level === 'degraded' || summary.level === 'lost',
    accessibilityLabel: `Waygate: ${summary.headline}`,
    headline: summary.headline,
    problems,
    links: untrusted ? ['waygate.openConfiguration', 'waygate.showLog'] : RUNNING_LINKS,
  };
}

function text({ link, policy }: GatewayView, level: string): string {
  const tools = link.kind === 'attached' ? ` ${link.snapshot.catalog.toolCount}` : '';
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
      return policy ? `$(circle-slash) Waygate${tools}` : `$(plug) Waygate${tools}`;
  }
}
