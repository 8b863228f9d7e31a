import { t } from '../l10n.ts';

/** Pure state machine for attaching to the worker, detaching and retrying. `gatewayLink.ts` runs it. */

export type OffReason = 'checking' | 'no_folder' | 'no_configuration' | 'untrusted';

/** Target of the link: the workspace to attach to, or the reason for having no target. */
export type LinkTarget = { workspace: string } | { off: OffReason };

export interface Conditions {
  /** Folder of the workspace on a real disk. */
  workspace: string | undefined;
  trusted: boolean;
  configuration: 'unknown' | 'absent' | 'present';
}

/**
 * Determines the target. `untrusted` comes last, so that it always means: a configuration exists but is not applied.
 */
export function linkTarget(conditions: Conditions): LinkTarget {
  if (conditions.workspace === undefined) return { off: 'no_folder' };
  if (conditions.configuration === 'unknown') return { off: 'checking' };
  if (conditions.configuration === 'absent') return { off: 'no_configuration' };
  if (!conditions.trusted) return { off: 'untrusted' };
  return { workspace: conditions.workspace };
}

/** `attempt` counts the tries since the last stable attachment. */
export type LinkPhase =
  | { kind: 'off'; reason: OffReason }
  | { kind: 'attaching'; workspace: string; attempt: number }
  | { kind: 'attached'; workspace: string; attempt: number }
  /** Moving from one worker to its successor. */
  | { kind: 'moving'; workspace: string; attempt: number }
  | { kind: 'waiting'; workspace: string; attempt: number; delayMs: number; reason: string }
  | { kind: 'stopping'; workspace: string }
  | { kind: 'disposed' };

export type LinkEvent =
  | { type: 'target'; target: LinkTarget }
  | { type: 'attached' }
  | { type: 'attach_failed'; reason: string }
  | { type: 'closed'; attachedForMs: number }
  | { type: 'timer' }
  | { type: 'restart' }
  /** Another worker has taken over and is ready to attach to. */
  | { type: 'replaced' }
  | { type: 'dispose' };

export type LinkEffect =
  | { type: 'attach'; workspace: string }
  | { type: 'detach' }
  /** Detaches, but keeps the last state visible until a newer one arrives. */
  | { type: 'hand_over' }
  | { type: 'stop_worker' }
  | { type: 'set_timer'; ms: number }
  | { type: 'clear_timer' };

export interface LinkStep {
  phase: LinkPhase;
  effects: readonly LinkEffect[];
}

/**
 * Delays before retries. The first retry follows at once, so that a killed worker is replaced before the user notices.
 */
export const RETRY_DELAYS_MS: readonly number[] = [100, 500, 1_000, 2_000, 5_000, 15_000];
/** Longest delay that a request of the user waits for. */
const SOON_MS = 2_000;
/** A worker that exits sooner is crashing, not being replaced: the delays keep growing. */
export const LASTING_MS = 10_000;
/** Limit for attaching. A cold start with a virus scanner takes some seconds; a longer one hangs. */
export const ATTACH_LIMIT_MS = 20_000;
/** Limit for stopping. The worker stops its children within three seconds; after this limit its successor cleans up. */
export const STOP_LIMIT_MS = 5_000;

const stay = (phase: LinkPhase): LinkStep => ({ phase, effects: [] });

const attach = (workspace: string, attempt: number, ...before: LinkEffect[]): LinkStep => ({
  phase: { kind: 'attaching', workspace, attempt },
  effects: [...before, { type: 'set_timer', ms: ATTACH_LIMIT_MS }, { type: 'attach', workspace }],
});

function wait(workspace: string, attempt: number, reason: string, ...before: LinkEffect[]): LinkStep {
  const delayMs = RETRY_DELAYS_MS[Math.min(attempt, RETRY_DELAYS_MS.length - 1)] ?? 0;
  return {
    phase: { kind: 'waiting', workspace, attempt: attempt + 1, delayMs, reason },
    effects: [...before, { type: 'set_timer', ms: delayMs }],
  };
}

const DETACH: readonly LinkEffect[] = [{ type: 'clear_timer' }, { type: 'detach' }];

const move = (workspace: string): LinkStep => ({
  phase: { kind: 'moving', workspace, attempt: 0 },
  effects: [{ type: 'hand_over' }, { type: 'set_timer', ms: ATTACH_LIMIT_MS }, { type: 'attach', workspace }],
});

/** Reports whether a request of the user may wait for the attachment, because an attempt runs or comes in a moment. */
export const willAttach = (phase: LinkPhase): boolean =>
  isAttaching(phase) || (phase.kind === 'waiting' && phase.delayMs <= SOON_MS);

const isAttaching = (phase: LinkPhase): phase is Extract<LinkPhase, { kind: 'attaching' | 'moving' }> =>
  phase.kind === 'attaching' || phase.kind === 'moving';

export function step(phase: LinkPhase, event: LinkEvent): LinkStep {
  if (phase.kind === 'disposed') return stay(phase);
  switch (event.type) {
    case 'dispose':
      return { phase: { kind: 'disposed' }, effects: DETACH };
    case 'target':
      return retarget(phase, event.target);
    case 'restart':
      if (phase.kind === 'off' || phase.kind === 'stopping') return stay(phase);
      if (phase.kind !== 'attached') return attach(phase.workspace, 0, ...DETACH);
      return {
        phase: { kind: 'stopping', workspace: phase.workspace },
        effects: [{ type: 'set_timer', ms: STOP_LIMIT_MS }, { type: 'stop_worker' }],
      };
    case 'replaced':
      if (phase.kind === 'waiting') return attach(phase.workspace, 0, ...DETACH);
      return phase.kind === 'attached' ? move(phase.workspace) : stay(phase);
    case 'attached':
      if (!isAttaching(phase)) return stay(phase);
      return { phase: { ...phase, kind: 'attached' }, effects: [{ type: 'clear_timer' }] };
    case 'attach_failed':
      return isAttaching(phase) ? wait(phase.workspace, phase.attempt, event.reason, ...DETACH) : stay(phase);
    case 'closed':
      if (phase.kind === 'stopping') return attach(phase.workspace, 0, ...DETACH);
      if (phase.kind !== 'attached') return stay(phase);
      return wait(
        phase.workspace,
        event.attachedForMs >= LASTING_MS ? 0 : phase.attempt,
        t`The gateway has exited.`,
        ...DETACH,
      );
    case 'timer':
      if (phase.kind === 'waiting') return attach(phase.workspace, phase.attempt);
      if (phase.kind === 'stopping') return attach(phase.workspace, 0, ...DETACH);
      if (!isAttaching(phase)) return stay(phase);
      return wait(
        phase.workspace,
        phase.attempt,
        t`The gateway did not answer within ${ATTACH_LIMIT_MS / 1_000} seconds.`,
        ...DETACH,
      );
  }
}

function retarget(phase: Exclude<LinkPhase, { kind: 'disposed' }>, target: LinkTarget): LinkStep {
  if ('off' in target) {
    if (phase.kind === 'off') return stay({ kind: 'off', reason: target.off });
    return { phase: { kind: 'off', reason: target.off }, effects: DETACH };
  }
  if (phase.kind === 'off') return attach(target.workspace, 0);
  return phase.workspace === target.workspace ? stay(phase) : attach(target.workspace, 0, ...DETACH);
}
