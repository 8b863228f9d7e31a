/** Operations of the call pipeline and its controls (G4, G6, G7, G8). */

import type { CallOutcome } from '../../../src/calls/pipeline/callPipeline.ts';
import { cacheKey, ResultCache } from '../../../src/calls/pipeline/resultCache.ts';
import { type AttemptsFailed, backoffDelay, callWithRetry } from '../../../src/calls/pipeline/retry.ts';
import { decide, type PolicySubject } from '../../../src/calls/policy/policy.ts';
import { type QuotaDecision, RateLimiter, rateLimited } from '../../../src/calls/policy/quota.ts';
import { repairArgs } from '../../../src/calls/validation/argRepairs.ts';
import { checkSchemaHealth, SCHEMA_LIMITS } from '../../../src/calls/validation/schemaHealth.ts';
import type { CatalogTool } from '../../../src/catalog/types.ts';
import { CALL_BLOCKS, DEFAULT_CACHE, POLICY_PRESET, PRESETS } from '../../../src/config/declaration/callBlocks.ts';
import { GatewayError, type GatewayErrorCode } from '../../../src/errors/gatewayError.ts';
import { oneLine } from '../../../src/text/porcelain.ts';
import { failedCall } from '../../../src/upstream/connection/callFailed.ts';
import { bench, type Firewalled, resultOf, text, toolOf, toolsOf } from '../../calls/support.ts';
import { classified } from '../../support/classified.ts';
import { readField } from '../../support/readSettings.ts';
import { isVisible, type VisibilityProfile } from '../reference/visibility.ts';
import { camelCased, snakeCased } from './specifiedNames.ts';

type Json = Record<string, unknown>;

const { policy: POLICY, retry: RETRY, rateLimits: RATE_LIMITS, cache: CACHE } = CALL_BLOCKS;
const readPolicy = (block: unknown) => readField(POLICY.field, camelCased(block));
const readRateLimits = (block: unknown) => readField(RATE_LIMITS.field, camelCased(block));
const readCache = (block: unknown) => readField(CACHE.field, camelCased(block));
/** Waygate's default of `jitter` is 1; the cases expect 0. */
const readRetry = (block: unknown) => readField(RETRY.field, { jitter: 0, ...(camelCased(block) as Json) });
/** The specification bounds only the number of answers. */
const specifiedCache = ({ maxBytes: _, ...cache }: typeof DEFAULT_CACHE) => snakeCased(cache);

interface Context {
  expected: unknown;
  file: { groups: Record<string, { id: string; op: string; input: unknown }[]> };
}

interface Operation {
  run(input: never, context: Context): unknown;
  ignoring?: readonly string[];
}

const READ_ONLY = {
  name: 'files.read',
  description: 'Reads a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
  annotations: { readOnlyHint: true },
};

export const dispatchOperations: Readonly<Record<string, Readonly<Record<string, Operation>>>> = {
  errors: {
    'GatewayError JSON': {
      run: ({ code, message, ...options }: { code: GatewayErrorCode; message: string; path: string; details: Json }) =>
        new GatewayError(code, message, options).toObject(),
    },
  },
  redaction: {
    redact_upstream_detail: {
      run: ({ text: words, max_len: limit }: { text: string; max_len: number }) => ({ ok: oneLine(words, limit) }),
    },
  },
  error_classification: {
    classify: {
      run: ({ exception, message }: { exception: string; message: string }) => {
        const { code, retryable } = classified(failure(exception, message));
        return { code, retryable };
      },
    },
  },
  arg_repairs: {
    'schema used by every case of this group': { run: () => null },
    normalize_args: {
      run: ({ args }: { args: unknown }, { file }) => {
        const schema = file.groups.arg_repairs?.find((one) => one.op.startsWith('schema used'))?.input;
        return repairArgs(args, schema);
      },
    },
  },
  retry: {
    defaults: { run: () => snakeCased(readRetry({})) },
    backoff_delay: {
      run: ({ fractions, ...block }: { fractions?: number[] }, { expected }) => {
        const policy = readRetry(block);
        if (fractions) return { delays: fractions.map((fraction) => backoffDelay(policy, 0, fraction)) };
        return {
          delays: (expected as { delays: number[] }).delays.map((_, failed) => backoffDelay(policy, failed, 0)),
        };
      },
    },
    call_with_retry: { run: callAgain },
    RetryPolicy: { run: (input: unknown) => configured(() => readRetry(input)) },
    'RetryPolicy config': { run: (input: unknown) => configured(() => readRetry(input)) },
  },
  cache: {
    'cache key': {
      run: ({ tool_id: id, args }: { tool_id: string; args: unknown[] }) => ({
        sha256: args.map((one) => cacheKey(id, one)),
      }),
    },
    'ttl 30 s': {
      run: ({ put_at: putAt, get_at: getAt }: { put_at: number; get_at: number[] }) => {
        let now = putAt;
        const cache = new ResultCache({ ...DEFAULT_CACHE, ttlSeconds: 30 }, () => now);
        cache.put('k', { a: 1 });
        return {
          hit: getAt.map((at) => {
            now = at;
            return cache.get('k') !== undefined;
          }),
        };
      },
    },
    'max_entries 2': { run: leastRecentlyUsed },
    defaults: { run: () => specifiedCache(DEFAULT_CACHE) },
    "allow=['ok']": {
      run: (ids: string[]) => ({
        admits: ids.map((id) => new ResultCache({ ...DEFAULT_CACHE, allow: ['ok'] }).allows(id)),
        no_allow_list_admits_anything: ids.every((id) => new ResultCache(DEFAULT_CACHE).allows(id)),
      }),
    },
    'read-only tool called twice with same args': {
      run: async () => {
        const { upstream, run, id } = cachingBench();
        const [first, second] = [await run(id, { path: 'a' }), await run(id, { path: 'a' })].map(resultOf);
        return {
          upstream_calls: upstream.calls.length,
          'second.provenance.cache_hit': second?.provenance.cache_hit,
          'first.provenance.cache_hit': first && 'cache_hit' in first.provenance ? 'present' : 'absent',
        };
      },
    },
    'read-only call, catalog refresh, same call': {
      run: async () => {
        const { upstream, run, pipeline, id } = cachingBench();
        await run(id, { path: 'a' });
        pipeline.invalidate();
        await run(id, { path: 'a' });
        return { upstream_calls: upstream.calls.length };
      },
    },
    'mutating a returned hit': {
      run: () => {
        const cache = new ResultCache(DEFAULT_CACHE);
        cache.put('k', text('as it was'));
        const hit = cache.get('k') as { content: { text: string }[] };
        (hit.content[0] as { text: string }).text = 'changed';
        return { 'cached entry unchanged': JSON.stringify(cache.get('k')) === JSON.stringify(text('as it was')) };
      },
    },
  },
  rate_limits: {
    RateLimiter: { run: limit },
    'rate_limits config': { run: (input: unknown) => configured(() => readRateLimits(input)) },
    'RATE_LIMITED error JSON': {
      run: ({ path, ...decision }: { path: string; scope: string; retry_after: number | null }) =>
        rateLimited(path, { allowed: false, ...decision }).toObject(),
    },
  },
  execute_errors: {
    tool_execute: {
      run: async (
        { tool_id: id, args, dry_run: dryRun = false }: { tool_id: string; args: unknown; dry_run?: boolean },
        context,
      ) => {
        const { details, ...error } = await bench(fixtureTools(context)).fail(id, args, { dryRun });
        // The other details are free (G4.1).
        return details && 'path' in details ? { ...error, details: { path: details.path } } : error;
      },
    },
  },
  dry_run: {
    'tool_execute dry_run': {
      run: async ({ tool_id: id, args }: { tool_id: string; args: unknown }, context) => {
        const { run, upstream, firewalled } = bench(fixtureTools(context));
        const report = withoutPolicy(reportOf(await run(id, args, { dryRun: true })));
        return { report, upstream_calls: upstream.calls.length, artifacts: firewalled.length };
      },
    },
    'dry_run with deny policy': {
      run: async ({ policy }: { policy: unknown }, context) => {
        const { run } = bench(fixtureTools(context), { policy: readPolicy(policy) });
        return { report: reportOf(await run('github:create_issue@1.4.0', { title: 'x' }, { dryRun: true })) };
      },
    },
    'session quota 1: dry, real, dry, real': { run: (_: null, context) => quotaOfOne(context) },
  },
  refresh: {
    'execute old id after rename': {
      run: async (_: null, context) => {
        const renamed = new Map(fixtureTools(context));
        renamed.delete('github:create_issue@1.4.0');
        const { fail, upstream } = bench(renamed);
        const { error } = await fail('github:create_issue@1.4.0', { title: 'x' });
        return { error, upstream_calls: upstream.calls.length };
      },
    },
    'schema meta-invalid tool': {
      run: async ({ inputSchema }: { inputSchema: unknown }) => {
        const tool = toolOf({ name: 'fs.read', description: 'Reads.', inputSchema });
        const { fail } = bench(new Map([[tool.id, tool]]));
        return {
          registered: true,
          finding: checkSchemaHealth(inputSchema)[0]?.kind,
          execute: (await fail(tool.id, {})).error,
        };
      },
    },
  },
  schema_health: {
    check_schema_health: {
      run: ({ schema, limits }: { schema: unknown; limits: Json | null }, { expected }) => {
        const findings = checkSchemaHealth(schema, {
          ...SCHEMA_LIMITS,
          ...(limits?.max_bytes === undefined ? {} : { maxBytes: limits.max_bytes as number }),
          ...(limits?.max_depth === undefined ? {} : { maxDepth: limits.max_depth as number }),
          ...(limits?.max_properties === undefined ? {} : { maxProperties: limits.max_properties as number }),
        });
        // The case has null if it leaves the wording of a meta-schema open.
        const free = (expected as { details: unknown }).details === null;
        return {
          kinds: findings.map(({ kind }) => kind),
          details: free ? null : findings.map(({ detail }) => detail),
        };
      },
    },
    'SchemaLimits defaults': {
      run: () => ({
        max_bytes: SCHEMA_LIMITS.maxBytes,
        max_depth: SCHEMA_LIMITS.maxDepth,
        max_properties: SCHEMA_LIMITS.maxProperties,
      }),
    },
  },
  policy: {
    'ToolPolicy.decide': {
      run: ({ policy, context }: { policy: unknown; context: unknown }) => {
        const { action, rule_index } = decide(readPolicy(policy), camelCased(context) as PolicySubject);
        return { action, rule_index };
      },
    },
    'ToolPolicy config': { run: (input: unknown) => configured(() => readPolicy(input)) },
  },
  presets: {
    policy_preset: {
      run: (name: unknown) => {
        try {
          const preset = readField(POLICY_PRESET, name);
          const { cache, ...rest } = PRESETS[preset];
          const specified = { ...(snakeCased(rest) as Json), cache: specifiedCache(cache) };
          return { ok: { schema: 'gateway-policy-preset/v1', name: preset, ...specified } };
        } catch {
          return { error: 'CONFIG_ERROR' };
        }
      },
    },
  },
  visibility: {
    'visibility profile': {
      run: ({
        profile,
        namespace,
        inventory,
      }: {
        profile: VisibilityProfile;
        namespace: string;
        inventory: Json | null;
      }) => ({
        allowed: isVisible(profile, namespace, inventory),
      }),
    },
  },
};

function failure(exception: string, message: string): Error {
  if (exception === 'connection') return Object.assign(new Error(message), { code: 'ECONNREFUSED' });
  if (exception === 'timeout') return new DOMException(message, 'TimeoutError');
  return new Error(exception === 'generic:429' ? '429 too many requests' : message);
}

interface Sequence {
  fail_first: number;
  exception: string;
  policy: unknown;
}

async function callAgain({ fail_first: failing, exception, policy }: Sequence): Promise<Json> {
  let calls = 0;
  const call = async (): Promise<string> => {
    calls += 1;
    if (calls <= failing) throw failure(exception, 'refused');
    return 'done';
  };
  const run = {
    policy: readRetry(policy),
    // The case retries every transient failure, Waygate only convergent calls (G7.3): so the tool is convergent here.
    contract: 'convergent' as const,
    random: () => 0,
    sleep: async () => undefined,
    left: () => Number.POSITIVE_INFINITY,
    judge: (error: unknown) => failedCall(error, (words) => words),
  };
  try {
    const { attempts, delays } = await callWithRetry(call, run);
    return { attempts, delays, ok: true, code: null };
  } catch (error) {
    const { attempts, delays, cause } = error as AttemptsFailed;
    return { attempts, delays, ok: false, code: classified(cause).code };
  }
}

function leastRecentlyUsed({ ops }: { ops: string[] }): Json {
  const cache = new ResultCache({ ...DEFAULT_CACHE, maxEntries: 2 });
  const put = new Set<string>();
  for (const op of ops) {
    const [what, key] = op.split(' ') as [string, string];
    if (what === 'put') {
      cache.put(key, {});
      put.add(key);
    } else cache.get(key);
  }
  return { present: [...put].filter((key) => cache.has(key)), evicted: [...put].filter((key) => !cache.has(key)) };
}

interface LimitedCalls {
  policy: unknown;
  calls: { meta: 'tool_browse' | 'tool_execute' | 'tool_view'; tool_id?: string; t?: number; dry?: boolean }[];
}

function limit({ policy, calls }: LimitedCalls): { decisions: QuotaDecision[] } {
  let now = 0;
  const limiter = new RateLimiter(readRateLimits(policy), () => now);
  const session = {};
  return {
    decisions: calls.map(({ meta, tool_id: toolId, t = now, dry }) => {
      now = t;
      const subject = { session, metaTool: meta, toolId };
      return dry ? limiter.evaluate(subject) : limiter.take(subject);
    }),
  };
}

async function quotaOfOne(context: Context): Promise<Json> {
  const { run, fail } = bench(fixtureTools(context), {
    rateLimits: readRateLimits({ tool_execute: { max_calls_per_session: 1 } }),
  });
  const [id, args] = ['github:create_issue@1.4.0', { title: 'x' }];
  const first = await run(id, args, { dryRun: true });
  const real = await run(id, args);
  const second = await run(id, args, { dryRun: true });
  const refused = await fail(id, args);
  const nameOf = (outcome: CallOutcome<Firewalled>) => (outcome.kind === 'dry_run' ? 'DryRunReport' : 'ResultEnvelope');
  return {
    results: [
      nameOf(first),
      nameOf(real),
      nameOf(second),
      refused.error === 'RATE_LIMITED' ? 'GatewayError' : refused.error,
    ],
    exhausted_dry_checks: withoutPolicy(reportOf(second)).checks,
  };
}

/** Returns the fields that the cases pin; the report has more (G7.6). */
function reportOf(outcome: CallOutcome<Firewalled>): Json {
  if (outcome.kind !== 'dry_run') throw new Error('it was a real call');
  const { dry_run, tool_id, upstream_name, args_valid, annotations, checks } = outcome.report;
  const bare = checks.map(({ name, status }) => ({ name, status }));
  return { dry_run, tool_id, upstream_name, args_valid, annotations, checks: bare };
}

/** Removes the policy: these cases expect a gateway without one, and Waygate always has one. */
function withoutPolicy({ checks, ...report }: Json): Json {
  return { ...report, checks: (checks as { name: string }[]).filter(({ name }) => name !== 'policy') };
}

function cachingBench() {
  const config = { cache: readCache({ read_only: true }) };
  const tool = toolOf(READ_ONLY);
  return { ...bench(new Map([[tool.id, tool]]), config), id: tool.id };
}

function fixtureTools({ file }: Context): Map<string, CatalogTool> {
  return toolsOf(file.groups.runtime_fixture?.[0]?.input as Json[]);
}

function configured(read: () => unknown): { result: string } {
  try {
    read();
    return { result: 'ok' };
  } catch {
    return { result: 'CONFIG_ERROR' };
  }
}
