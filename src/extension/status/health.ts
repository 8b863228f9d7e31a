import type { GatewaySnapshot, ServerStatus } from '../../control/contract.ts';
import type { HealthLevel, HealthSummary } from '../../control/dashboardMessages.ts';
import type { PolicyBlock } from '../configuration/policy.ts';
import type { LinkState } from '../gateway/gatewayLink.ts';
import type { OffReason } from '../gateway/linkMachine.ts';
import { plural, t } from '../l10n.ts';
import { amounts, asSentence } from '../plainText.ts';
import { needsOf, serverLabel } from './remedies.ts';
import { serverCounts } from './serverCounts.ts';

/**
 * Source of the gateway's status for the status bar, the tree and the dashboard, which therefore use the same words.
 */
export interface GatewayView {
  link: LinkState;
  policy: PolicyBlock | undefined;
  /** Servers of Waygate that VS Code also starts itself. */
  direct?: readonly string[];
  /** Calls that wait for the user's answer, by tool and server. */
  questions?: readonly string[];
  /** Number of calls that have run for a second or longer. */
  longCalls?: number;
  /** Servers that are being listed again. */
  refreshing?: ReadonlySet<string>;
  /** Result of the last refresh, for some seconds. */
  news?: string | undefined;
}

export function serversOf({ link }: GatewayView): readonly ServerStatus[] {
  return link.kind === 'attached' ? link.snapshot.servers : [];
}

const OFF_HEADLINES: Record<OffReason, string> = {
  checking: t`Looking for a configuration…`,
  no_folder: t`Open a folder to use Waygate.`,
  no_configuration: t`This folder has no .vscode/waygate.json yet.`,
  untrusted: t`Waygate starts no servers until you trust this workspace.`,
};

export function summarize({ link, policy }: GatewayView): HealthSummary {
  const summary = summarizeLink(link);
  return policy === undefined || link.kind === 'off'
    ? summary
    : { ...summary, problems: [policy.message, ...summary.problems] };
}

/** True for the first retry, which follows at once: a warning would be gone before the user reads it. */
export function isBlink(link: LinkState): boolean {
  return link.kind === 'waiting' && link.attempt <= 1;
}

function summarizeLink(link: LinkState): HealthSummary {
  switch (link.kind) {
    case 'off':
      return says('off', OFF_HEADLINES[link.reason]);
    case 'attaching':
      return says('starting', t`The gateway is starting…`);
    case 'stopping':
      return says('stopping', t`The gateway is stopping…`);
    case 'waiting':
      if (isBlink(link)) return says('starting', t`The gateway is being replaced…`);
      return says('lost', t`The gateway is not running; Waygate retries automatically.`, [asSentence(link.reason)]);
    case 'attached':
      return summarizeSnapshot(link.snapshot);
  }
}

function summarizeSnapshot(snapshot: GatewaySnapshot): HealthSummary {
  const problems = problemsOf(snapshot);
  const amount = problems.length;
  const wrong = amount === 0 ? '' : plural(amount, t`1 problem`, t`${amount} problems`);
  switch (snapshot.health) {
    case 'starting':
      return says('starting', t`The gateway is starting: ${inventory(snapshot)} so far.`, problems);
    case 'stopping':
      return says('stopping', t`The gateway is stopping…`, problems);
    case 'ready':
      return says('ready', `${capitalized(inventory(snapshot))}.`, problems);
    case 'degraded':
      return says(
        'degraded',
        [capitalized(inventory(snapshot)), ...(wrong === '' ? [] : [wrong])].join('; ').concat('.'),
        problems,
      );
  }
}

function says(level: HealthLevel, headline: string, problems: readonly string[] = []): HealthSummary {
  return { level, headline, problems };
}

function inventory({ catalog, servers }: GatewaySnapshot): string {
  const counts = serverCounts(servers);
  const tools = amounts.tools(catalog.toolCount);
  if (counts.usable === counts.total) return t`${tools} from ${amounts.servers(counts.total)}`;
  return t`${tools}, ${counts.usable} usable of ${amounts.servers(counts.total)}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function problemsOf({ configuration, servers }: GatewaySnapshot): string[] {
  const wrong = configuration.problems
    .filter((problem) => problem.severity === 'error')
    .map((problem) => t`Configuration, line ${problem.location.line}: ${asSentence(problem.message)}`);
  const needs = needsOf(servers);
  return [...wrong, ...needs.map(({ server, says }) => `${serverLabel(server)} ${says}`)];
}
