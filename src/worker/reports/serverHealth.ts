import type { ServerStatus } from '../../control/contract.ts';
import type { ServerHealth } from '../../control/healthContract.ts';
import { HealthRecord, type HealthSnapshot } from '../../supervision/health.ts';
import { oneLine } from '../../text/porcelain.ts';

/** It should run and does not. What was not started yet, or may not run at all, is not down. */
const DOWN: ReadonlySet<ServerStatus['state']> = new Set(['failed', 'needs_sign_in', 'needs_secret']);
const MAX_REASON = 200;
const NEVER_STARTED = new HealthRecord(() => 0).snapshot();

/** How one server fares: as its status tells it, and as its supervisor does where it has one. */
export function serverHealth(
  { name, state, reason, oddities }: ServerStatus,
  supervisor: HealthSnapshot | undefined,
  scrubSecrets: (text: string) => string,
): ServerHealth {
  const { last_fault, state: _lifecycle, ...supervised } = supervisor ?? NEVER_STARTED;
  const told = (text: string): string => oneLine(scrubSecrets(text), MAX_REASON);
  return {
    name,
    state,
    down: DOWN.has(state),
    ...supervised,
    ...(reason === undefined ? {} : { reason: told(reason) }),
    ...(oddities ? { oddities } : {}),
    ...(last_fault === undefined ? {} : { last_fault: { ...last_fault, detail: told(last_fault.detail) } }),
  };
}
