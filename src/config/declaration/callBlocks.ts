import {
  apart,
  type Block,
  block,
  keepOwn,
  ownEntries,
  type SettingsOf,
  type ToolGlobs,
  type WithOwn,
} from './block.ts';
import { defaultsOf, list, object, record } from './collections.ts';
import { flag, type Infer, number, oneOf, text } from './field.ts';
import { POLICY, type ToolPolicy } from './policyBlock.ts';
import { RATE_LIMITS, type RateLimits } from './rateLimitsBlock.ts';
import { REPLAY } from './replayBlock.ts';
import { TRUST } from './trustBlock.ts';

const RETRY_KEYS = {
  maxAttempts: number({
    whole: true,
    min: 1,
    default: 1,
    doc: 'How often a call is made at most, the first attempt included.',
  }),
  baseDelay: number({
    min: 0,
    default: 0.1,
    doc: 'Seconds before the second attempt. Each further attempt waits twice as long.',
  }),
  maxDelay: number({ min: 0, default: 5, doc: 'Upper bound of a delay in seconds.' }),
  // Spreads the retries of clients that failed at the same time.
  jitter: number({ min: 0, max: 1, default: 1, doc: 'Random share of a delay, from 0 to 1.' }),
  retryableCodes: list(oneOf(['UPSTREAM_TIMEOUT', 'UPSTREAM_UNAVAILABLE', 'RATE_LIMITED', 'UPSTREAM_ERROR'], {}), {
    default: ['UPSTREAM_TIMEOUT', 'UPSTREAM_UNAVAILABLE'],
    doc: 'Only errors of these codes.',
  }),
};

const CACHE_KEYS = {
  readOnly: flag({
    default: false,
    doc: 'Whether to keep answers of tools that declare themselves read-only.',
  }),
  ttlSeconds: number({ min: 0.001, default: 60, doc: 'How long an answer may be used again.' }),
  maxEntries: number({ whole: true, min: 1, default: 256, doc: 'Number of answers that are kept.' }),
  maxBytes: number({ whole: true, min: 1, default: 32 * 1024 * 1024, doc: 'Size of all kept answers together.' }),
  allow: list(text({}), {
    nullable: true,
    default: null,
    doc: 'Ids of the tools whose answers may be kept. Without it, all.',
  }),
};

/** Limits of a schema that is compiled. `maxBranches` and `maxRefs` bound the keywords that multiply work. */
const SCHEMA_LIMIT_KEYS = {
  maxBytes: number({ whole: true, min: 1, default: 65_536, doc: 'Size of the schema as JSON.' }),
  maxDepth: number({ whole: true, min: 1, default: 32, doc: 'Levels of objects and lists.' }),
  maxProperties: number({ whole: true, min: 1, default: 512, doc: 'Properties in all.' }),
  maxBranches: number({ whole: true, min: 1, default: 512, doc: 'Branches of `anyOf`, `oneOf` and `allOf`.' }),
  maxRefs: number({ whole: true, min: 1, default: 512, doc: 'References.' }),
};

/** Upper bound of a timeout. Node's timers overflow after 24 days, and a call of more than a day is a mistake. */
const SECONDS = { min: 0.001, max: 86_400 } as const;
const TIMEOUT_KEYS = {
  // VS Code waits as long for an MCP call.
  default: number({ ...SECONDS, default: 120, doc: 'For every tool without a closer setting.' }),
  servers: record(number(SECONDS), { default: {}, refersTo: 'server', doc: 'By the names of servers.' }),
  tools: record(number(SECONDS), {
    default: {},
    doc: "By globs over the tool's id or its own name. The first match counts.",
  }),
};

const timeouts = object(TIMEOUT_KEYS, {
  doc: 'Time limits of calls in seconds: for all, per server, per tool. Those of a workspace do not concern the servers in your own waygate.json, nor names and globs in yours servers of a workspace.',
});
const cache = object(CACHE_KEYS, {
  doc: 'Reuse of answers of read-only tools. Pair `readOnly` with an `allow` list: a hint of a server proves nothing. A workspace has no answers kept of the servers in your own waygate.json.',
});

const retry = object(RETRY_KEYS, {
  doc: 'Repetition of calls that may be repeated: those that never left, and those that `replay` declares `convergent`. That of a workspace does not concern the servers in your own waygate.json.',
});

const schemaLimits = object(SCHEMA_LIMIT_KEYS, {
  doc: "Limits of a tool's schema. A larger one is not compiled. Those of a workspace have no effect if you have some, or servers, of your own.",
});

/** Blocks that a call reads when it begins. */
export const CALL_BLOCKS = {
  tolerantArgs: block(
    flag({
      default: false,
      doc: 'Repairs arguments in a wrong form if their meaning is plain: an object sent as text, `"3"` for a number. The result reports each repair.',
    }),
  ),
  policy: POLICY,
  trust: TRUST,
  retry: block<WithOwn<Infer<typeof retry>>>(retry, {
    defaultValue: defaultsOf(RETRY_KEYS),
    combine: apart(defaultsOf(RETRY_KEYS)),
  }),
  rateLimits: RATE_LIMITS,
  cache: block<WithOwn<Infer<typeof cache>>>(cache, {
    defaultValue: defaultsOf(CACHE_KEYS),
    combine: apart(defaultsOf(CACHE_KEYS)),
    // Without its `allow` list, a block that cannot be read would admit every tool.
    safety: {
      strictest: (_, readable) => ({ ...(readable ?? defaultsOf(CACHE_KEYS)), readOnly: false }),
      untilThen: 'no answer is used again',
    },
  }),
  schemaLimits: block(schemaLimits, {
    defaultValue: defaultsOf(SCHEMA_LIMIT_KEYS),
    // A schema beyond the limits is not checked, so lower ones are no safer.
    combine: keepOwn('schemaLimits', defaultsOf(SCHEMA_LIMIT_KEYS)),
  }),
  timeouts: block<WithOwn<Infer<typeof timeouts> & ToolGlobs>>(timeouts, {
    defaultValue: defaultsOf(TIMEOUT_KEYS),
    combine: apart(defaultsOf(TIMEOUT_KEYS)),
    narrow: (own, scope) => ({ ...own, toolsOf: 'user', servers: ownEntries('timeouts', own.servers, scope) }),
  }),
  replay: REPLAY,
} satisfies Readonly<Record<string, Block<unknown>>>;

/** Settings that a call reads when it begins: one immutable value, computed from all files. */
export type CallSettings = SettingsOf<typeof CALL_BLOCKS>;

export const DEFAULT_RETRY = CALL_BLOCKS.retry.defaultValue;
export const DEFAULT_CACHE = CALL_BLOCKS.cache.defaultValue;

/** Named set of controls. A block that the file sets itself replaces the preset's. */
export interface Preset {
  readonly policy: ToolPolicy;
  readonly retry: CallSettings['retry'];
  readonly rateLimits: RateLimits;
  readonly cache: CallSettings['cache'];
}

const ALLOW_ALL: ToolPolicy = { default: 'allow', rules: [] };
const perMinute = (calls: number): RateLimits => ({
  tool_execute: { maxCallsPerMinute: calls, maxCallsPerSession: null },
});

export const PRESETS = {
  safe: {
    policy: {
      default: 'allow',
      rules: [
        {
          action: 'require_approval',
          metaTool: 'tool_execute',
          reason: 'The preset "safe" asks before every tool that was not approved before.',
        },
      ],
    },
    retry: { ...DEFAULT_RETRY, jitter: 0, maxAttempts: 2 },
    rateLimits: perMinute(30),
    cache: DEFAULT_CACHE,
  },
  balanced: {
    policy: ALLOW_ALL,
    retry: { ...DEFAULT_RETRY, jitter: 0, maxAttempts: 3 },
    rateLimits: perMinute(120),
    cache: DEFAULT_CACHE,
  },
  throughput: {
    policy: ALLOW_ALL,
    retry: { ...DEFAULT_RETRY, jitter: 0.2, maxAttempts: 5 },
    rateLimits: {},
    cache: { ...DEFAULT_CACHE, readOnly: true },
  },
} satisfies Readonly<Record<string, Preset>>;

export const POLICY_PRESET = oneOf(Object.keys(PRESETS) as (keyof typeof PRESETS)[], {
  doc: 'A set of controls under one name. A block of your own replaces that of the preset.',
});
