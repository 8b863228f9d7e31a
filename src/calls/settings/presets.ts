import type { JsonPath } from '../json.ts';
import { CACHE_DEFAULTS, type CacheSettings } from '../pipeline/resultCache.ts';
import { RETRY_DEFAULTS, type RetryPolicy } from '../pipeline/retry.ts';
import type { ToolPolicy } from '../policy/policy.ts';
import type { RateLimits } from '../policy/quota.ts';
import { DispatchConfigError } from './configError.ts';

/** Whole sets of controls under one name; a block of one's own replaces that of the preset. */
export interface PolicyPreset {
  name: PresetName;
  policy: ToolPolicy;
  retry: RetryPolicy;
  rate_limits: RateLimits;
  cache: CacheSettings;
}

export type PresetName = 'safe' | 'balanced' | 'throughput';
export const PRESET_NAMES: readonly PresetName[] = ['safe', 'balanced', 'throughput'];

const ALLOW_ALL: ToolPolicy = { default: 'allow', rules: [] };

const PRESETS: Readonly<Record<PresetName, PolicyPreset>> = {
  safe: {
    name: 'safe',
    policy: {
      default: 'allow',
      rules: [
        {
          action: 'require_approval',
          meta_tool: 'tool_execute',
          reason: 'The preset "safe" asks before every tool that was not approved before.',
        },
      ],
    },
    retry: { ...RETRY_DEFAULTS, max_attempts: 2 },
    rate_limits: { tool_execute: { max_calls_per_minute: 30, max_calls_per_session: null } },
    cache: CACHE_DEFAULTS,
  },
  balanced: {
    name: 'balanced',
    policy: ALLOW_ALL,
    retry: { ...RETRY_DEFAULTS, max_attempts: 3 },
    rate_limits: { tool_execute: { max_calls_per_minute: 120, max_calls_per_session: null } },
    cache: CACHE_DEFAULTS,
  },
  throughput: {
    name: 'throughput',
    policy: ALLOW_ALL,
    retry: { ...RETRY_DEFAULTS, max_attempts: 5, jitter: 0.2 },
    rate_limits: {},
    cache: { ...CACHE_DEFAULTS, read_only: true },
  },
};

export function policyPreset(name: unknown, path: JsonPath = ['policy_preset']): PolicyPreset {
  if (typeof name === 'string' && Object.hasOwn(PRESETS, name)) return PRESETS[name as PresetName];
  throw new DispatchConfigError(`"${path.join('.')}" must be ${PRESET_NAMES.join(', ')}.`, path);
}
