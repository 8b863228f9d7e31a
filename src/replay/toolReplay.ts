import type { Probe } from './probe.ts';
import type { ReplayContract } from './replay.ts';

/** Replay settings of the user for a server's tools, or for one tool. */
export interface ReplaySettings {
  contract?: ReplayContract;
  /** Way to find out whether a lost call took effect. Only `probe_required` uses it. */
  probe?: Probe;
}

/** Hints of a server about its own tool. Trust neither their values nor their form (M1.3). */
export interface ToolHints {
  readOnlyHint?: unknown;
  idempotentHint?: unknown;
}

export interface ToolReplay {
  contract: ReplayContract;
  probe?: Probe;
  /** Origin of the contract, shown to the user. */
  source: 'tool' | 'server' | 'hints' | 'default';
}

/** Returns the contract of a tool: the user's closest setting, then trusted hints, else `never_replay` (O3.4). */
export function toolReplay(known: {
  tool?: ReplaySettings | undefined;
  server?: ReplaySettings | undefined;
  hints?: ToolHints | undefined;
  /** The user's switch for this server. */
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
