import type { JsonPath } from '../json.ts';
import { CALL_DEADLINE_MS } from '../pipeline/deadline.ts';
import { CACHE_DEFAULTS, type CacheSettings, readCacheSettings } from '../pipeline/resultCache.ts';
import { RETRY_WITH_FULL_JITTER, type RetryPolicy, readRetryPolicy } from '../pipeline/retry.ts';
import { DEFAULT_POLICY, readPolicy, type ToolPolicy } from '../policy/policy.ts';
import { type RateLimits, readRateLimits } from '../policy/quota.ts';
import { SCHEMA_LIMITS, type SchemaLimits } from '../validation/schemaHealth.ts';
import { ConfigBlock } from './configReader.ts';
import { type Overrides, readOverrides } from './overrides.ts';
import { policyPreset } from './presets.ts';
import { NOTHING_REPEATED, type ReplaySettings, readReplay } from './replaySettings.ts';

/** Everything about calls that a person can set. */
export interface DispatchConfig {
  tolerantArgs: boolean;
  /** Undefined: no policy at all, and no check of that name in a dry run. */
  policy: ToolPolicy | undefined;
  retry: RetryPolicy;
  rateLimits: RateLimits;
  cache: CacheSettings;
  schemaLimits: SchemaLimits;
  deadlines: Overrides<number>;
  contracts: ReplaySettings;
  /** What `contracts` may not loosen: for these servers, or for every one. */
  contractGuard?: { servers: readonly string[]; everyServer: boolean; contracts: ReplaySettings };
}

export const DISPATCH_DEFAULTS: DispatchConfig = {
  tolerantArgs: false,
  policy: DEFAULT_POLICY,
  retry: RETRY_WITH_FULL_JITTER,
  rateLimits: {},
  cache: CACHE_DEFAULTS,
  schemaLimits: SCHEMA_LIMITS,
  deadlines: { default: CALL_DEADLINE_MS, servers: {}, tools: [] },
  contracts: NOTHING_REPEATED,
};

export const DISPATCH_KEYS = [
  'tolerant_args',
  'policy_preset',
  'policy',
  'retry',
  'rate_limits',
  'cache',
  'schema_limits',
  'timeouts',
  'replay',
] as const;

/** Reads the blocks of `DISPATCH_KEYS`; throws `DispatchConfigError` with the place of what is wrong. */
export function readDispatchConfig(value: unknown, path: JsonPath = []): DispatchConfig {
  const block = new ConfigBlock(value, path, DISPATCH_KEYS);
  const given = block.get('policy_preset');
  const preset = given === undefined ? undefined : policyPreset(given, [...path, 'policy_preset']);
  const read = <T>(key: string, reader: (value: unknown, at: JsonPath) => T, fallback: T): T =>
    block.get(key) === undefined ? fallback : reader(block.get(key), [...path, key]);
  const base = DISPATCH_DEFAULTS;
  return {
    tolerantArgs: block.flag('tolerant_args', base.tolerantArgs),
    policy: read('policy', readPolicy, preset?.policy ?? (DEFAULT_POLICY as ToolPolicy)),
    retry: read('retry', (v, at) => readRetryPolicy(v, at, RETRY_WITH_FULL_JITTER), preset?.retry ?? base.retry),
    rateLimits: read('rate_limits', readRateLimits, preset?.rate_limits ?? base.rateLimits),
    cache: read('cache', readCacheSettings, preset?.cache ?? base.cache),
    schemaLimits: read('schema_limits', readSchemaLimits, base.schemaLimits),
    deadlines: read('timeouts', readTimeouts, base.deadlines),
    contracts: read('replay', readReplay, base.contracts),
  };
}

function readSchemaLimits(value: unknown, path: JsonPath): SchemaLimits {
  const block = new ConfigBlock(value, path, ['max_bytes', 'max_depth', 'max_properties', 'max_branches', 'max_refs']);
  return {
    maxBytes: block.count('max_bytes') ?? SCHEMA_LIMITS.maxBytes,
    maxDepth: block.count('max_depth') ?? SCHEMA_LIMITS.maxDepth,
    maxProperties: block.count('max_properties') ?? SCHEMA_LIMITS.maxProperties,
    maxBranches: block.count('max_branches') ?? SCHEMA_LIMITS.maxBranches,
    maxRefs: block.count('max_refs') ?? SCHEMA_LIMITS.maxRefs,
  };
}

/** The longest that a timer of Node can wait is some 24 days; a call of more than a day is a mistake. */
const MAX_TIMEOUT_SECONDS = 86_400;

/** Seconds: `{"default": 120, "servers": {"git": 30}, "tools": {"git:clone*": 600}}`. */
function readTimeouts(value: unknown, path: JsonPath): Overrides<number> {
  const read = (block: ConfigBlock, key: string): number => block.number(key, 0, 0.001, MAX_TIMEOUT_SECONDS) * 1_000;
  return readOverrides(value, path, read, CALL_DEADLINE_MS);
}
