import type { GatewaySnapshot, ServerRemedy, ServerStatus } from '../../control/contract.ts';
import { serverState } from '../../control/serverStates.ts';
import { oneLine } from '../../text/porcelain.ts';
import type { CommandId } from '../contributions.ts';
import { asSentence, count } from '../plainText.ts';
import { heldWords, isQuarantined, waitsForReview } from '../trust/heldRows.ts';

/** Step of the user in the editor: a sentence, and the command that does it with the label of its button. */
export interface RemedyStep {
  says: string;
  command: CommandId;
  button: string;
}

/** Words of the editor for each remedy. No view names a command line: the editor's users have buttons. */
const STEPS: Record<ServerRemedy['kind'], RemedyStep> = {
  approve: { says: 'Read what it would run, and approve it.', command: 'waygate.approveServers', button: 'Approve…' },
  review: { says: 'Review what it lists.', command: 'waygate.reviewChanges', button: 'Review Changes…' },
  secret: { says: 'Set the value that it needs.', command: 'waygate.setSecret', button: 'Set Secret…' },
  sign_in: { says: 'Sign in to it in the browser.', command: 'waygate.signIn', button: 'Sign In' },
  edit: { says: 'Correct its entry in waygate.json.', command: 'waygate.openConfiguration', button: 'Open Place' },
  restart: { says: 'Let Waygate start it again.', command: 'waygate.refreshServer', button: 'Try Again' },
  wait: { says: 'Waygate starts it again by itself.', command: 'waygate.refreshServer', button: 'Try Now' },
};

/** Returns the step that makes a server serve; undefined if none is needed. */
export function remedyStep({ remedy }: Pick<ServerStatus, 'remedy'>): RemedyStep | undefined {
  return remedy && STEPS[remedy.kind];
}

/** True if a server needs the user. A starting server does not. */
export function isTroubled(server: Pick<ServerStatus, 'state'>): boolean {
  return serverState(server.state).needsPerson === true;
}

/** True if a server does not start before a step of the user. A failed one may start again. */
export function waitsForUser(server: Pick<ServerStatus, 'state'>): boolean {
  return isTroubled(server) && server.state !== 'failed';
}

/** True if a server serves nothing, or less than it lists, until the user acts. */
export function needsPerson(server: ServerStatus): boolean {
  return isTroubled(server) || waitsForReview(server);
}

/** Server that needs the user: its trouble in one sentence, and the step that ends it. */
export interface Need {
  server: ServerStatus;
  /** Sentence without the server's name. */
  says: string;
  step?: RemedyStep;
}

export function needsOf(servers: readonly ServerStatus[]): Need[] {
  return servers.filter(needsPerson).map((server) => {
    const step = remedyStep(server);
    return { server, says: troubleOf(server), ...(step && { step }) };
  });
}

function troubleOf(server: ServerStatus): string {
  if (!isTroubled(server)) {
    if (isQuarantined(server)) return 'is in quarantine: no model sees its tools.';
    return `waits for your review: ${heldWords(server.held ?? [])}.`;
  }
  // Without the countdown of a row, which nothing would keep up to date here.
  const words = stateWords(server);
  if (server.state === 'needs_secret' && server.secret) {
    return `${words}: ${asSentence(server.secret.description || server.secret.name)}`;
  }
  // The other states that wait for the user need no reason beside their button.
  if (server.state !== 'failed') return `${words}.`;
  return server.reason ? `${words}: ${asSentence(server.reason)}` : `${words}.`;
}

/** Steps of a countdown, so that rows are not redrawn every second. */
const COUNTDOWN_STEP_S = 5;

/**
 * Describes the state of a server with its restarts and its next start: `failed · 22 restarts · next try in 25 s`.
 * `age` is the time since its status was made; without it the next start is left out.
 */
export function stateWords(server: ServerStatus, age?: number): string {
  const { state, supervised, remedy } = server;
  const restarts = restartWords(server);
  const next = supervised?.next_attempt_in_ms ?? (remedy?.kind === 'wait' ? remedy.ms : undefined);
  return [
    serverState(state).words,
    ...(restarts === '' ? [] : [restarts]),
    ...(age === undefined || next === undefined || state === 'ready' ? [] : [nextTry(next - age)]),
  ].join(' · ');
}

export function restartWords({ supervised }: Pick<ServerStatus, 'supervised'>): string {
  const restarts = supervised?.restart_count ?? 0;
  return restarts > 0 ? count(restarts, 'restart') : '';
}

/** Returns the time since the worker made a snapshot. */
export function snapshotAge({ worker }: Pick<GatewaySnapshot, 'worker'>, now = Date.now()): number {
  return Math.max(0, now - worker.startedAt - worker.uptimeMs);
}

function nextTry(ms: number): string {
  const seconds = Math.ceil(Math.max(0, ms) / (COUNTDOWN_STEP_S * 1_000)) * COUNTDOWN_STEP_S;
  if (seconds === 0) return 'next try now';
  return seconds < 120 ? `next try in ${seconds} s` : `next try in ${Math.ceil(seconds / 60)} min`;
}

export function serverLabel({ name }: Pick<ServerStatus, 'name'>): string {
  return oneLine(name, 60);
}
