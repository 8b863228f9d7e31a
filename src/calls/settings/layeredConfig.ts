import type { ReplayContract } from '../../replay/replay.ts';
import type { ToolReplay } from '../../replay/toolReplay.ts';
import { DEFAULT_POLICY, type PolicyAction, type PolicyRule, type ToolPolicy } from '../policy/policy.ts';
import type { RateLimit, RateLimits } from '../policy/quota.ts';
import type { SchemaLimits } from '../validation/schemaHealth.ts';
import type { DispatchConfig } from './dispatchConfig.ts';
import { type ReplaySubject, replayOf } from './replaySettings.ts';

/** One file's settings, with the fields that it says something of; the others hold the defaults. */
export interface DispatchLayer {
  settings: DispatchConfig;
  said: ReadonlySet<keyof DispatchConfig>;
}

/** A rule that is there and does not count, by its place in the workspace's own list. */
export interface IneffectiveRules {
  rules: readonly number[];
  /** What the person's own file says instead. */
  floor: PolicyAction;
}

const STRICTNESS: Readonly<Record<PolicyAction, number>> = { allow: 0, require_approval: 1, deny: 2 };
const CAUTION: Readonly<Record<ReplayContract, number>> = { convergent: 0, probe_required: 1, never_replay: 2 };

/**
 * A workspace's settings over the person's own, block by block. Where safety is concerned a repository's file adds to
 * what the person says and takes nothing from it; of the person's own servers it lifts nothing even where he is silent.
 */
export function layerSettings(
  user: DispatchLayer,
  workspace: DispatchLayer,
  userServers: readonly string[],
): { settings: DispatchConfig; ineffective?: IneffectiveRules } {
  const over = { ...user.settings, ...saidBy(workspace) };
  const both = (field: keyof DispatchConfig): boolean => user.said.has(field) && workspace.said.has(field);
  const { policy, ineffective } = layerPolicy(user, workspace, userServers);
  const settings: DispatchConfig = {
    ...over,
    policy,
    rateLimits: both('rateLimits')
      ? lowerLimits(user.settings.rateLimits, workspace.settings.rateLimits)
      : over.rateLimits,
    schemaLimits: both('schemaLimits')
      ? lowerBounds(user.settings.schemaLimits, workspace.settings.schemaLimits)
      : over.schemaLimits,
    contractGuard: {
      servers: userServers,
      everyServer: user.said.has('contracts'),
      contracts: user.settings.contracts,
    },
  };
  return { settings, ...(ineffective && { ineffective }) };
}

/** What may happen to a call that was lost: what the configuration says, and never less than its guard. */
export function replayFor(
  { contracts, contractGuard }: Pick<DispatchConfig, 'contracts' | 'contractGuard'>,
  tool: ReplaySubject,
): ToolReplay {
  const told = replayOf(contracts, tool);
  if (!contractGuard?.everyServer && !contractGuard?.servers.includes(tool.server)) return told;
  const least = replayOf(contractGuard.contracts, tool);
  return CAUTION[told.contract] < CAUTION[least.contract] ? least : told;
}

function saidBy({ settings, said }: DispatchLayer): Partial<DispatchConfig> {
  return Object.fromEntries(Object.entries(settings).filter(([field]) => said.has(field as keyof DispatchConfig)));
}

function layerPolicy(
  user: DispatchLayer,
  workspace: DispatchLayer,
  userServers: readonly string[],
): { policy: ToolPolicy | undefined; ineffective?: IneffectiveRules } {
  const [own, theirs] = [user.settings.policy, workspace.settings.policy];
  if (!workspace.said.has('policy') || !theirs) return { policy: own };
  if (!user.said.has('policy') || !own) {
    return { policy: { ...theirs, rules: guarded(theirs.rules, userServers) } };
  }
  const floor = own.default;
  const weaker = (action: PolicyAction): boolean => STRICTNESS[action] < STRICTNESS[floor];
  const lost = theirs.rules.flatMap(({ action }, index) => (weaker(action) ? [index] : []));
  const policy: ToolPolicy = {
    default: weaker(theirs.default) ? floor : theirs.default,
    rules: [...own.rules, ...theirs.rules.filter((_, index) => !lost.includes(index))],
  };
  return lost.length > 0 ? { policy, ineffective: { rules: lost, floor } } : { policy };
}

/** What holds without any policy goes on to hold for the person's own servers: before the first rule that allows. */
function guarded(rules: readonly PolicyRule[], servers: readonly string[]): PolicyRule[] {
  const first = rules.findIndex(({ action }) => action === 'allow');
  const at = first === -1 ? rules.length : first;
  const guard = servers.flatMap((server) => DEFAULT_POLICY.rules.map((rule) => ({ ...rule, server })));
  return [...rules.slice(0, at), ...guard, ...rules.slice(at)];
}

function lowerLimits(a: RateLimits, b: RateLimits): RateLimits {
  const [{ per_tool: toolsOfA = {}, ...left }, { per_tool: toolsOfB = {}, ...right }] = [a, b];
  return { ...lowerOfEach(left, right), per_tool: lowerOfEach(toolsOfA, toolsOfB) };
}

function lowerOfEach(
  a: Readonly<Record<string, RateLimit>>,
  b: Readonly<Record<string, RateLimit>>,
): Record<string, RateLimit> {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return Object.fromEntries(
    names.map((name) => {
      const [left, right] = [a[name], b[name]];
      if (!left || !right) return [name, (left ?? right) as RateLimit];
      return [
        name,
        {
          max_calls_per_minute: lower(left.max_calls_per_minute, right.max_calls_per_minute),
          max_calls_per_session: lower(left.max_calls_per_session, right.max_calls_per_session),
        },
      ];
    }),
  );
}

function lower(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

function lowerBounds(a: SchemaLimits, b: SchemaLimits): SchemaLimits {
  return {
    maxBytes: Math.min(a.maxBytes, b.maxBytes),
    maxDepth: Math.min(a.maxDepth, b.maxDepth),
    maxProperties: Math.min(a.maxProperties, b.maxProperties),
    maxBranches: Math.min(a.maxBranches, b.maxBranches),
    maxRefs: Math.min(a.maxRefs, b.maxRefs),
  };
}
