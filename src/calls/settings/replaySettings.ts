import type { CatalogTool } from '../../catalog/types.ts';
import { globsConcern } from '../../config/declaration/block.ts';
import type { ReplaySettings } from '../../config/declaration/replayBlock.ts';
import type { ReplayContract } from '../../replay/replay.ts';
import { type ToolReplay, toolReplay } from '../../replay/toolReplay.ts';
import { firstMatch } from './overrides.ts';

export type ReplaySubject = Pick<CatalogTool, 'id' | 'upstreamName' | 'server' | 'origin'> &
  Partial<Pick<CatalogTool, 'annotations'>>;

const CAUTION: Readonly<Record<ReplayContract, number>> = { convergent: 0, probe_required: 1, never_replay: 2 };

/** Returns the replay contract of a tool: the configured one, but never more permissive than the floor. */
export function replayFor(settings: ReplaySettings, tool: ReplaySubject): ToolReplay {
  const set = replayOf(settings, tool);
  const { floor } = settings;
  if (!floor || (floor.servers && !floor.servers.includes(tool.server))) return set;
  const least = replayOf(floor.settings, tool);
  return CAUTION[set.contract] < CAUTION[least.contract] ? least : set;
}

function replayOf(settings: Omit<ReplaySettings, 'floor'>, tool: ReplaySubject): ToolReplay {
  if (globsConcern(settings, tool)) return written(settings, tool);
  const named = written({ ...settings, probes: {} }, tool);
  const unnamed = written({ ...settings, tools: {}, probes: {} }, tool);
  return CAUTION[named.contract] > CAUTION[unnamed.contract] ? named : unnamed;
}

function written(settings: Omit<ReplaySettings, 'floor'>, tool: ReplaySubject): ToolReplay {
  const own = firstMatch(settings.tools, tool);
  const probe = firstMatch(settings.probes, tool);
  const byServer = Object.hasOwn(settings.servers, tool.server) ? settings.servers[tool.server] : undefined;
  const forAll = settings.default === 'never_replay' ? undefined : settings.default;
  const contract = byServer ?? forAll;
  return toolReplay({
    tool: { ...(own === undefined ? {} : { contract: own }), ...(probe === undefined ? {} : { probe }) },
    ...(contract === undefined ? {} : { server: { contract } }),
    hints: tool.annotations,
    trustHints: settings.trustHints.includes(tool.server),
  });
}
