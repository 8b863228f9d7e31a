import { type Fault, faultOf } from '../errors/fault.ts';
import { FAULT_CODES, type KnownFaultCode } from '../errors/faultCodes.ts';
import type { ExecutionKnowledge, ReplayContract } from './replay.ts';

/** Request that the host answered in place of a worker. The next worker counts it (O4.4). */
export interface LostCall {
  method: string;
  /** Tool of a `tools/call` as the host knows it, and the server's tool that it was to run. */
  tool?: string | undefined;
  toolId?: string | undefined;
  /** A worker has begun to run the server's tool. */
  runs: boolean;
  /** Duration in milliseconds. */
  took: number;
  fault: Fault;
  knowledge: ExecutionKnowledge;
  contract: ReplayContract;
  dispatches: number;
}

/** Limit of kept losses without a worker. Clients also get answers to further ones, but nothing counts them. */
export const MAX_LOST_CALLS = 100;

/** Reads lost calls from another process. */
export function readLostCalls(value: unknown): LostCall[] {
  return Array.isArray(value) ? value.slice(0, MAX_LOST_CALLS).flatMap((one) => readLostCall(one) ?? []) : [];
}

function readLostCall(value: unknown): LostCall | undefined {
  const { method, tool, toolId, runs, took, fault, knowledge, contract, dispatches } = (value ?? {}) as Record<
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
    runs: runs === true,
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
