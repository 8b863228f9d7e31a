import type { CatalogTool } from '../../catalog/types.ts';
import type { Probe } from '../../replay/probe.ts';
import type { ReplayContract } from '../../replay/replay.ts';
import { type ToolReplay, toolReplay } from '../../replay/toolReplay.ts';
import type { JsonPath } from '../json.ts';
import { asObject, ConfigBlock } from './configReader.ts';
import { firstMatch, type Overrides, readOverrides } from './overrides.ts';

/** Replay contracts of tools as the user declares them (O3.4). */
export interface ReplaySettings extends Overrides<ReplayContract> {
  /** Servers whose `readOnlyHint` and `idempotentHint` the person believes. */
  trustHints: readonly string[];
  /** How to find out whether a lost call took effect, by globs over tools. */
  probes: readonly (readonly [glob: string, probe: Probe])[];
}

// Hints of a server make nothing repeatable: only the user's configuration does (O3.4).
export const NOTHING_REPEATED: ReplaySettings = {
  default: 'never_replay',
  servers: {},
  tools: [],
  trustHints: [],
  probes: [],
};

export type ReplaySubject = Pick<CatalogTool, 'id' | 'upstreamName' | 'server'> &
  Partial<Pick<CatalogTool, 'annotations'>>;

export function replayOf(settings: ReplaySettings, tool: ReplaySubject): ToolReplay {
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

const CONTRACTS: readonly ReplayContract[] = ['convergent', 'probe_required', 'never_replay'];

/** The `replay` block. */
export function readReplay(value: unknown, path: JsonPath): ReplaySettings {
  const read = (block: ConfigBlock, key: string): ReplayContract => block.choice(key, CONTRACTS) ?? 'never_replay';
  const block = new ConfigBlock(value, path, ['default', 'servers', 'tools', 'trust_hints', 'probes']);
  const probes = asObject(block.get('probes'), [...path, 'probes']);
  return {
    ...readOverrides(value, path, read, 'never_replay', ['trust_hints', 'probes']),
    trustHints: block.texts('trust_hints') ?? [],
    probes: Object.keys(probes).map((glob) => [glob, readProbe(probes[glob], [...path, 'probes', glob])] as const),
  };
}

function readProbe(value: unknown, path: JsonPath): Probe {
  const block = new ConfigBlock(value, path, ['tool', 'arguments', 'effect']);
  const effectPath = [...path, 'effect'];
  const effect = new ConfigBlock(block.get('effect'), effectPath, ['at', 'equals']);
  const equals = effect.get('equals');
  if (equals !== undefined && !['string', 'number', 'boolean'].includes(typeof equals)) {
    throw effect.wrong('equals', 'a text, a number, true or false');
  }
  return {
    tool: block.needed('tool'),
    arguments: asObject(block.get('arguments'), [...path, 'arguments']),
    effect: {
      at: effect.needed('at'),
      ...(equals === undefined ? {} : { equals: equals as string | number | boolean }),
    },
  };
}
