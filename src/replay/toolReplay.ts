import type { Probe } from './probe.ts';
import type { ReplayContract } from './replay.ts';

/** What the person says of a server's tools, or of one tool. */
export interface ReplaySettings {
  contract?: ReplayContract;
  /** How to find out whether a lost call took effect; means something with `probe_required` alone. */
  probe?: Probe;
}

/** Hints of a server about its own tool. Neither their values nor their form can be trusted (M1.3). */
export interface ToolHints {
  readOnlyHint?: unknown;
  idempotentHint?: unknown;
}

export interface ToolReplay {
  contract: ReplayContract;
  probe?: Probe;
  /** Who said so: shown to the person, who may want to change it. */
  source: 'tool' | 'server' | 'hints' | 'default';
}

/** The person's word, the closest first; what the server says only where the person trusts it; else never. */
export function toolReplay(known: {
  tool?: ReplaySettings | undefined;
  server?: ReplaySettings | undefined;
  hints?: ToolHints | undefined;
  /** The person's one switch per server. */
  trustHints?: boolean | undefined;
}): ToolReplay {
  const { tool, server, hints, trustHints } = known;
  const probe = tool?.probe ?? server?.probe;
  const by = (contract: ReplayContract, source: ToolReplay['source']): ToolReplay => ({
    contract,
    ...(contract === 'probe_required' && probe !== undefined ? { probe } : {}),
    source,
  });
  if (tool?.contract !== undefined) return by(tool.contract, 'tool');
  if (server?.contract !== undefined) return by(server.contract, 'server');
  if (trustHints === true && (hints?.readOnlyHint === true || hints?.idempotentHint === true)) {
    return by('convergent', 'hints');
  }
  return by('never_replay', 'default');
}
