import type { GatewaySnapshot, ServerRemedy, ServerStatus } from '../../control/contract.ts';
import { serverState } from '../../control/serverStates.ts';
import { oneLine } from '../../text/porcelain.ts';
import type { CommandId } from '../contributions.ts';
import { ACTION_COMMANDS } from '../dashboard/actionCommands.ts';
import { t, translated } from '../l10n.ts';
import { amounts, asSentence } from '../plainText.ts';
import { heldWords, isQuarantined, waitsForReview } from '../trust/heldRows.ts';

/** Step of the user in the editor: a sentence, and the command that does it with the label of its button. */
export interface RemedyStep {
  says: string;
  command: CommandId;
  /** Button of the dashboard that runs the command. */
  action: keyof typeof ACTION_COMMANDS;
  button: string;
}

/** Words of the editor for each remedy. No view names a command line: the editor's users have buttons. */
const STEPS: Record<ServerRemedy['kind'], RemedyStep> = {
  approve: step('approve', t`Approve…`, t`Read what it would run, and approve it.`),
  review: step('review', t`Review Changes…`, t`Review what it lists.`),
  secret: step('setSecret', t`Set Secret…`, t`Set the value that it needs.`),
  sign_in: step('signIn', t`Sign In`, t`Sign in to it in the browser.`),
  edit: step('openServer', t`Open Place`, t`Correct its entry in waygate.json.`),
  restart: step('refreshServer', t`Try Again`, t`Let Waygate start it again.`),
  wait: step('refreshServer', t`Try Now`, t`Waygate starts it again by itself.`),
};

function step(action: RemedyStep['action'], button: string, says: string): RemedyStep {
  return { says, command: ACTION_COMMANDS[action], action, button };
}

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
    if (isQuarantined(server)) return t`is in quarantine: no model sees its tools.`;
    return t`waits for your review: ${heldWords(server.held ?? [])}.`;
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
    translated(serverState(state).words),
    ...(restarts === '' ? [] : [restarts]),
    ...(age === undefined || next === undefined || state === 'ready' ? [] : [nextTry(next - age)]),
  ].join(' · ');
}

export function restartWords({ supervised }: Pick<ServerStatus, 'supervised'>): string {
  const restarts = supervised?.restart_count ?? 0;
  return restarts > 0 ? amounts.restarts(restarts) : '';
}

/** Returns the time since the worker made a snapshot. */
export function snapshotAge({ worker }: Pick<GatewaySnapshot, 'worker'>, now = Date.now()): number {
  return Math.max(0, now - worker.startedAt - worker.uptimeMs);
}

function nextTry(ms: number): string {
  const seconds = Math.ceil(Math.max(0, ms) / (COUNTDOWN_STEP_S * 1_000)) * COUNTDOWN_STEP_S;
  if (seconds === 0) return t`next try now`;
  return seconds < 120 ? t`next try in ${seconds} s` : t`next try in ${Math.ceil(seconds / 60)} min`;
}

export function serverLabel({ name }: Pick<ServerStatus, 'name'>): string {
  return oneLine(name, 60);
}
