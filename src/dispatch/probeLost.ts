import { judgeProbe, type Probe, probeArguments } from '../ops/probe.ts';
import type { ReplayContract } from '../ops/replay.ts';
import type { ProbeResolution } from '../ops/requestDisposition.ts';
import type { Upstream } from './dispatchCall.ts';
import { judgeFailure } from './dispatchError.ts';
import type { JsonObject } from './json.ts';
import { AttemptsFailed } from './retry.ts';

export interface LostCall {
  contract: ReplayContract;
  probe: Probe | undefined;
  args: JsonObject;
  leftMs: number;
  signal: AbortSignal;
}

/** What became of a call that its server was lost with, by asking the server that came after it (004, Replay). */
export async function probeLost(error: unknown, upstream: Upstream, call: LostCall): Promise<ProbeResolution> {
  const { contract, probe, args, leftMs, signal } = call;
  const { code, dispatched } = judgeFailure(error instanceof AttemptsFailed ? error.cause : error);
  const isLost = code === 'UPSTREAM_UNAVAILABLE' && dispatched === 'unknown';
  const asked = probe && isLost && contract === 'probe_required' ? probeArguments(probe, args) : undefined;
  if (!probe || !asked || leftMs <= 0 || signal.aborted) return 'unresolved';
  try {
    const result = await upstream.call(probe.tool, asked, {
      timeoutMs: leftMs,
      signal,
      onProgress: () => undefined,
    });
    return judgeProbe(probe, result);
  } catch {
    return 'unresolved';
  }
}

/** The call has taken effect, and its own answer is gone. */
export function completedByProbe(tool: string, probe: Probe): JsonObject {
  const text = `The server was lost during this call, which has taken effect: ${probe.tool} shows it. The answer of ${tool} itself is lost; do not repeat the call.`;
  return { content: [{ type: 'text', text }], _meta: { 'waygate/outcome': 'completed_by_probe' } };
}
