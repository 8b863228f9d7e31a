import type { GatewaySnapshot, ServerStatus } from '../../control/contract.ts';
import type { HealthLevel, HealthSummary } from '../../control/dashboardMessages.ts';
import { serverState } from '../../control/serverStates.ts';
import { oneLine } from '../../text/porcelain.ts';
import type { PolicyBlock } from '../configuration/policy.ts';
import type { LinkState } from '../gateway/gatewayLink.ts';
import type { OffReason } from '../gateway/linkMachine.ts';
import { asSentence, count } from '../plainText.ts';
import { heldWords, isQuarantined, waitsForReview } from '../trust/heldRows.ts';

/**
 * Source of the gateway's status for the status bar, the tree and the dashboard, which therefore use the same words.
 */
export interface GatewayView {
  link: LinkState;
  policy: PolicyBlock | undefined;
  /** Servers of Waygate that VS Code also starts itself. */
  direct?: readonly string[];
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
  return `${count(catalog.toolCount, 'tool')} from ${count(servers.filter(isServing).length, 'server')}`;
}

function isServing(server: ServerStatus): boolean {
  return server.state === 'ready' || (server.state === 'not_started' && server.toolCount > 0);
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function problemsOf({ configuration, servers }: GatewaySnapshot): string[] {
  const wrong = configuration.problems
    .filter((problem) => problem.severity === 'error')
    .map((problem) => `Configuration, line ${problem.location.line}: ${asSentence(problem.message)}`);
  return [...wrong, ...servers.filter(needsPerson).map((server) => `${oneLine(server.name, 60)} ${troubleOf(server)}`)];
}

/** True if a server serves nothing, or less than it lists, until the user acts. */
export function needsPerson(server: ServerStatus): boolean {
  return isTroubled(server) || waitsForReview(server);
}

/** True if a server needs the user. A starting server does not. */
export function isTroubled(server: ServerStatus): boolean {
  return serverState(server.state).needsPerson === true;
}

function troubleOf(server: ServerStatus): string {
  if (!isTroubled(server)) {
    if (isQuarantined(server)) return 'is in quarantine: no model sees its tools.';
    return `waits for your review: ${heldWords(server.held ?? [])}.`;
  }
  const words = serverState(server.state).words;
  return server.reason ? `${words}: ${asSentence(server.reason)}` : `${words}.`;
}
