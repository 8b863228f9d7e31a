/** Health and telemetry on the control channel and in the resources that a model can read (O7, O8). */
import type { HealthSnapshot } from '../supervision/health.ts';
import type { TelemetryKept } from '../telemetry/telemetry.ts';
import type { TelemetrySnapshot, ToldFault } from '../telemetry/telemetryForms.ts';
import type { CallRecord, GatewayHealth, ServerOddity, ServerState } from './contract.ts';

export type { RolloutState } from '../supervision/health.ts';

/** Base of the health report on the wire, with `worker_handshake` (O7.1). */
export interface HealthCore extends Omit<HealthSnapshot, 'supervision' | 'next_attempt_in_ms' | 'last_fault'> {
  last_fault?: ToldFault;
}

/** One server. `not_started` is not down: it starts when it is needed. */
export interface ServerHealth extends Omit<HealthSnapshot, 'state' | 'last_fault'> {
  name: string;
  state: ServerState;
  /** It should run and does not. */
  down: boolean;
  reason?: string;
  last_fault?: ToldFault;
  /** What it did that no server should, over all its starts; the most frequent first. */
  oddities?: readonly ServerOddity[];
}

export interface HealthReport extends HealthCore {
  workspace: string;
  /** How well it serves, as the editor shows it. */
  condition: GatewayHealth;
  problems: readonly string[];
  servers: readonly ServerHealth[];
  event_log: EventLogHealth;
}

export interface EventLogHealth {
  file: string;
  written: number;
  dropped: number;
  failures: number;
  /** Why the last write failed; absent once one has succeeded again. */
  failing?: string;
}

/** What a worker has counted and noted, for the one that takes over from it. */
export interface KeptCounts {
  /** Of this handing-on: sent again it has the same one. */
  id: string;
  /** Of another build it is not read: it may have another form. */
  build: string;
  telemetry: TelemetryKept;
  recentCalls: readonly CallRecord[];
}

export interface TelemetryReport extends TelemetrySnapshot {
  workspace: string;
  /** What servers did that none should: the most frequent first, bounded. */
  oddities: readonly (ServerOddity & { server: string })[];
}
