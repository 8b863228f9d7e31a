import type { GatewaySnapshot, ServerStatus } from '../../control/contract.ts';
import type { HealthLevel, HealthSummary } from '../../control/dashboardMessages.ts';
import type { PolicyBlock } from '../configuration/policy.ts';
import type { LinkState } from '../gateway/gatewayLink.ts';
import type { OffReason } from '../gateway/linkMachine.ts';
import { asSentence, count } from '../plainText.ts';
import { needsOf, serverLabel } from './remedies.ts';
import { serverCounts, usableWords } from './serverCounts.ts';

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
  checking: 'Looking for a configuration…',
  no_folder: 'Open a folder to use Waygate.',
  no_configuration: 'This folder has no .vscode/waygate.json yet.',
  untrusted: 'Waygate starts no servers until you trust this workspace.',
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
      return says('starting', 'The gateway is starting…');
    case 'stopping':
      return says('stopping', 'The gateway is stopping…');
    case 'waiting':
      if (isBlink(link)) return says('starting', 'The gateway is being replaced…');
      return says('lost', 'The gateway is not running; Waygate retries automatically.', [asSentence(link.reason)]);
    case 'attached':
      return summarizeSnapshot(link.snapshot);
  }
}

function summarizeSnapshot(snapshot: GatewaySnapshot): HealthSummary {
  const problems = problemsOf(snapshot);
  switch (snapshot.health) {
    case 'starting':
      return says('starting', `The gateway is starting: ${inventory(snapshot)} so far.`, problems);
    case 'stopping':
      return says('stopping', 'The gateway is stopping…', problems);
    case 'ready':
      return says('ready', `${capitalized(inventory(snapshot))}.`, problems);
    case 'degraded':
      return says(
        'degraded',
        `${capitalized(inventory(snapshot))}${problems.length > 0 ? `; ${count(problems.length, 'problem')}` : ''}.`,
        problems,
      );
  }
}

function says(level: HealthLevel, headline: string, problems: readonly string[] = []): HealthSummary {
  return { level, headline, problems };
}

function inventory({ catalog, servers }: GatewaySnapshot): string {
  const counts = serverCounts(servers);
  const tools = count(catalog.toolCount, 'tool');
  if (counts.usable === counts.total) return `${tools} from ${count(counts.total, 'server')}`;
  return `${tools}, ${usableWords(counts)} ${counts.total === 1 ? 'server' : 'servers'}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function problemsOf({ configuration, servers }: GatewaySnapshot): string[] {
  const wrong = configuration.problems
    .filter((problem) => problem.severity === 'error')
    .map((problem) => `Configuration, line ${problem.location.line}: ${asSentence(problem.message)}`);
  const needs = needsOf(servers);
  return [...wrong, ...needs.map(({ server, says }) => `${serverLabel(server)} ${says}`)];
}
