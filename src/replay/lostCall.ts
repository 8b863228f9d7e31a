import { type Fault, faultOf } from '../errors/fault.ts';
import { FAULT_CODES, type KnownFaultCode } from '../errors/faultCodes.ts';
import type { ExecutionKnowledge, ReplayContract } from './replay.ts';

/** A request that its host has answered in place of a worker: the next worker counts it, nobody else can (004, Telemetry). */
export interface LostCall {
  method: string;
  /** Of a `tools/call`: the tool as its client named it, and where that is one of ours which server's tool it was to run. */
  tool?: string | undefined;
  toolId?: string | undefined;
  /** What the recent calls say it was, where that is not `tool`. No host tells it: the mode knows. */
  metaTool?: string | undefined;
  /** Milliseconds. */
  took: number;
  fault: Fault;
  knowledge: ExecutionKnowledge;
  contract: ReplayContract;
  dispatches: number;
}

/** What is lost beyond this while there is no worker is told to the client all the same, and not counted. */
export const MAX_LOST_CALLS = 100;

/** It comes from another process. */
export function readLostCalls(value: unknown): LostCall[] {
  return Array.isArray(value) ? value.slice(0, MAX_LOST_CALLS).flatMap((one) => readLostCall(one) ?? []) : [];
}

function readLostCall(value: unknown): LostCall | undefined {
  const { method, tool, toolId, took, fault, knowledge, contract, dispatches } = (value ?? {}) as Record<
    string,
    unknown
  >;
  const { code, generation, detail } = (fault ?? {}) as Record<string, unknown>;
  if (typeof method !== 'string' || typeof took !== 'number' || typeof code !== 'string') return undefined;
  if (!Object.hasOwn(FAULT_CODES, code) || !Number.isSafeInteger(generation) || (generation as number) < 1)
    return undefined;
  return {
    method,
    tool: typeof tool === 'string' ? tool : undefined,
    toolId: typeof toolId === 'string' ? toolId : undefined,
    took: Math.max(0, took),
    fault: faultOf(
      code as KnownFaultCode,
      { generation: generation as number, detail: typeof detail === 'string' ? detail : '' },
      (text) => text,
    ),
    knowledge: knowledge === 'not_dispatched' ? knowledge : 'outcome_unknown',
    contract: contract === 'convergent' || contract === 'probe_required' ? contract : 'never_replay',
    dispatches: Number.isSafeInteger(dispatches) ? (dispatches as number) : 0,
  };
}
