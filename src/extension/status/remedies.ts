import type { ServerRemedy, ServerStatus } from '../../control/contract.ts';
import { serverState } from '../../control/serverStates.ts';
import { oneLine } from '../../text/porcelain.ts';
import { timeOfDay } from '../../text/timeOfDay.ts';
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
  const words = stateWords(server);
  if (server.state === 'needs_secret' && server.secret) {
    return `${words}: ${asSentence(server.secret.description || server.secret.name)}`;
  }
  // The other states that wait for the user need no reason beside their button.
  if (server.state !== 'failed') return `${words}.`;
  return server.reason ? `${words}: ${asSentence(server.reason)}` : `${words}.`;
}

/** Describes the state of a server with its restarts: `failed · 22 restarts`. */
export function stateWords(server: ServerStatus): string {
  return [translated(serverState(server.state).words), restartWords(server)].filter(Boolean).join(' · ');
}

/** Names the time of a server's next start, which needs no redraw as a countdown would; empty if none is planned. */
export function nextTryWords({ state, nextTryAt }: Pick<ServerStatus, 'state' | 'nextTryAt'>): string {
  return nextTryAt === undefined || state === 'ready' ? '' : t`next try at ${timeOfDay(nextTryAt)}`;
}

export function restartWords({ supervised }: Pick<ServerStatus, 'supervised'>): string {
  const restarts = supervised?.restart_count ?? 0;
  return restarts > 0 ? amounts.restarts(restarts) : '';
}

export function serverLabel({ name }: Pick<ServerStatus, 'name'>): string {
  return oneLine(name, 60);
}
