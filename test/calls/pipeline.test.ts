import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { STAGES } from '../../src/calls/pipeline/stages.ts';
import { CALL_BLOCKS } from '../../src/config/declaration/callBlocks.ts';
import { NOTHING_REPEATED } from '../../src/config/declaration/replayBlock.ts';
import { GatewayError } from '../../src/errors/gatewayError.ts';
import { readField } from '../support/readSettings.ts';
import { bench, resultOf, text, toolsOf } from './support.ts';

const TOOLS = toolsOf(
  [
    {
      name: 'read',
      description: 'Reads.',
      inputSchema: { type: 'object', properties: { n: { type: 'integer' }, s: { type: 'string' } }, required: ['n'] },
      annotations: { readOnlyHint: true },
    },
    { name: 'write', description: 'Writes.', inputSchema: { type: 'object' } },
    { name: 'broken', description: 'Has a broken schema.', inputSchema: { type: 'strnig' } },
  ],
  'fs',
);
const idOf = (name: string): string => [...TOOLS.keys()].find((id) => id.startsWith(`fs:${name}#`)) as string;
const READ = idOf('read');
const DENY = readField(CALL_BLOCKS.policy.field, { default: 'deny' });
const NOTHING_LEFT = readField(CALL_BLOCKS.rateLimits.field, { tool_execute: { maxCallsPerSession: 1 } });
const CACHE = readField(CALL_BLOCKS.cache.field, { readOnly: true });

describe('the pipeline', () => {
  it('runs its stages in order (G7.1)', () => {
    expect(STAGES.map(({ name }) => name)).toEqual([
      'hydrate',
      'repair',
      'validate',
      'trust',
      'egress',
      'policy',
      'quota',
      'dry run',
      'cache',
      'dispatch',
      'firewall',
      'cache store',
    ]);
  });

  it('hydrates before it checks arguments', async () => {
    expect((await bench(TOOLS).fail('fs:gone#00000000', 5)).error).toBe('HYDRATE_FAILED');
    const gone = bench(TOOLS, {}, { upstream: () => undefined });
    expect(await gone.fail(READ, {})).toMatchObject({ error: 'HYDRATE_FAILED', path: READ });
  });

  it('repairs before it validates, if that is switched on', async () => {
    const args = { n: '5' };
    expect(await bench(TOOLS).fail(READ, args)).toMatchObject({ error: 'ARGS_INVALID', details: { path: ['n'] } });
    const tolerant = bench(TOOLS, { tolerantArgs: true });
    const result = resultOf(await tolerant.run(READ, args));
    expect(result.provenance).toEqual({ arg_repairs: [{ path: '$.n', rule: 'str_to_integer' }] });
    expect(tolerant.upstream.calls).toEqual([{ tool: 'read', args: { n: 5 } }]);
    expect(resultOf(await tolerant.run(READ, '{"n": 5}')).provenance).toEqual({
      arg_repairs: [{ path: '$', rule: 'parse_stringified_object' }],
    });
  });

  it('validates before the policy, and sends nothing invalid', async () => {
    const { fail, upstream } = bench(TOOLS, { policy: DENY, rateLimits: NOTHING_LEFT });
    expect((await fail(READ, {})).error).toBe('ARGS_INVALID');
    expect((await fail(READ, 'text')).error).toBe('ARGS_INVALID');
    expect((await fail(READ, [1])).error).toBe('ARGS_INVALID');
    expect(await fail(idOf('broken'), {})).toMatchObject({ error: 'SCHEMA_INVALID', retryable: false });
    expect((await fail(READ, { n: 1 })).error).toBe('POLICY_DENIED');
    expect(upstream.calls).toEqual([]);
  });

  it('checks the policy before it counts: a denied call is free', async () => {
    const { fail, pipeline } = bench(TOOLS, { policy: DENY, rateLimits: NOTHING_LEFT });
    const session = {};
    expect((await fail(READ, { n: 1 }, { session })).error).toBe('POLICY_DENIED');
    expect(pipeline.limiter.left({ session, metaTool: 'tool_execute' })).toMatchObject([{ limit: 1, left: 1 }]);
    const allowed = bench(TOOLS, { rateLimits: NOTHING_LEFT });
    await allowed.run(READ, { n: 1 });
    expect((await allowed.fail(READ, { n: 1 })).error).toBe('RATE_LIMITED');
  });

  it('announces a call with its contract when it is sent, and no call that is refused, cached or a dry run', async () => {
    const { run, fail, upstream } = bench(TOOLS, { cache: CACHE });
    const announced: string[] = [];
    const begins = (contract: string, toolId: string): undefined =>
      void announced.push(`${contract} for ${toolId}, ${upstream.calls.length} sent`);
    await run(READ, { n: 1 }, { begins });
    expect(announced).toEqual([`never_replay for ${READ}, 0 sent`]);
    await run(READ, { n: 1 }, { begins });
    await run(READ, { n: 2 }, { begins, dryRun: true });
    await fail(READ, { n: 'two' }, { begins });
    await bench(TOOLS, { policy: DENY }).fail(READ, { n: 1 }, { begins });
    expect(announced).toHaveLength(1);
  });

  it('counts before it reads the cache', async () => {
    const { fail, run, upstream } = bench(TOOLS, { cache: CACHE, rateLimits: NOTHING_LEFT });
    await run(READ, { n: 1 });
    expect(await fail(READ, { n: 1 })).toMatchObject({
      error: 'RATE_LIMITED',
      details: { scope: 'tool_execute/session' },
    });
    expect(upstream.calls).toHaveLength(1);
  });

  it('ends a dry run before the cache, without any effect', async () => {
    const { run, upstream, firewalled, pipeline } = bench(TOOLS, { cache: CACHE, rateLimits: NOTHING_LEFT });
    for (let i = 0; i < 3; i++) expect((await run(READ, { n: 1 }, { dryRun: true })).kind).toBe('dry_run');
    expect(upstream.calls).toEqual([]);
    expect(firewalled).toEqual([]);
    expect((await run(READ, { n: 1 })).kind).toBe('result');
    expect(pipeline.limiter.left({ session: {}, metaTool: 'tool_execute' })).toEqual([
      { scope: 'tool_execute/session', limit: 1, left: 1 },
    ]);
  });

  it('keeps no answer of a server that has a state for each session', async () => {
    const { run, upstream } = bench(TOOLS, { cache: CACHE });
    upstream.isPerSession = true;
    await run(READ, { n: 1 });
    await run(READ, { n: 1 });
    expect(upstream.calls).toHaveLength(2);
    upstream.isPerSession = false;
    await run(READ, { n: 1 });
    await run(READ, { n: 1 });
    expect(upstream.calls).toHaveLength(3);
  });

  it('caches the processed result, and never an error', async () => {
    const failing = bench(TOOLS, { cache: CACHE });
    failing.upstream.answer = () => text('not there', { isError: true });
    await failing.run(READ, { n: 1 });
    await failing.run(READ, { n: 1 });
    expect(failing.upstream.calls).toHaveLength(2);

    let refuses = true;
    const walled = bench(
      TOOLS,
      { cache: CACHE },
      {
        firewall: () => {
          if (refuses) throw new GatewayError('UPSTREAM_ERROR', 'The disk is full.');
          return { text: '', provenance: {} };
        },
      },
    );
    expect((await walled.fail(READ, { n: 1 })).message).toBe('The disk is full.');
    refuses = false;
    await walled.run(READ, { n: 1 });
    expect(walled.upstream.calls).toHaveLength(2);
  });

  it('states in the provenance that arguments were not checked', async () => {
    const tools = toolsOf(
      [{ name: 'odd', description: 'Odd.', inputSchema: { properties: { a: { enum: [] } } } }],
      'fs',
    );
    const [id] = [...tools.keys()] as [string];
    const outcome = await bench(tools).run(id, { a: 1 });
    expect(resultOf(outcome).provenance.args_unchecked).toContain('cannot be used');
  });

  it('finishes with the catalog that it started with', async () => {
    const { run, upstream, pipeline } = bench(TOOLS, { cache: CACHE });
    let goOn = (): void => undefined;
    upstream.answer = ({ n }) => (n > 1 ? text('new') : new Promise((resolve) => (goOn = () => resolve(text('old')))));
    const under = run(READ, { n: 1 });
    while (upstream.calls.length === 0) await new Promise((turn) => setImmediate(turn));
    pipeline.invalidate();
    // The call joins none that began before the refresh, and that one's answer is not kept.
    expect(resultOf(await run(READ, { n: 1 })).text).toBe('new');
    goOn();
    expect(resultOf(await under).text).toBe('old');
    expect(resultOf(await run(READ, { n: 1 }))).toEqual({ text: 'new', provenance: { cache_hit: true } });
  });

  it('throws only errors of its own, for any input', async () => {
    const { run } = bench(TOOLS, { tolerantArgs: true, cache: CACHE });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...TOOLS.keys(), '', '__proto__'), fc.jsonValue(), async (id, args) => {
        try {
          await run(id, args);
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError);
          const { message, path } = (error as GatewayError).toObject();
          expect(message.length).toBeLessThanOrEqual(256);
          expect(message).not.toMatch(/\p{Cc}/u);
          expect(path).toBe(id);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('reports an internal error without internals', async () => {
    const { fail, log } = bench(
      TOOLS,
      {},
      {
        firewall: () => {
          throw new TypeError('undefined is not SECRET');
        },
      },
    );
    expect((await fail(READ, { n: 1 })).message).toBe(
      'Waygate itself failed on this call; the reason is in its log. Inform the user.',
    );
    expect(log.join()).toContain('undefined is not [REDACTED-SECRET]');
  });
});

describe('a dry run', () => {
  it('reports everything', async () => {
    const { run, upstream } = bench(TOOLS, {
      tolerantArgs: true,
      cache: CACHE,
      rateLimits: readField(CALL_BLOCKS.rateLimits.field, { tool_execute: { maxCallsPerMinute: 5 } }),
      policy: readField(CALL_BLOCKS.policy.field, {
        rules: [{ action: 'require_approval', tool: 'read', reason: 'Ask first.' }],
      }),
      replay: { ...NOTHING_REPEATED, servers: { fs: 'convergent' } },
      timeouts: { default: 1, servers: {}, tools: { read: 5 } },
    });
    upstream.state = 'failed';
    upstream.reason = 'exit code 1';
    const outcome = await run(READ, { n: '5' }, { dryRun: true });
    expect(outcome).toEqual({
      kind: 'dry_run',
      report: {
        dry_run: true,
        tool_id: READ,
        upstream_name: 'read',
        args_valid: true,
        annotations: { readOnlyHint: true, verified: false },
        checks: [
          { name: 'schema_validation', status: 'pass' },
          { name: 'rate_limit', status: 'pass' },
          { name: 'policy', status: 'AUTH_REQUIRED', reason: 'Ask first.' },
        ],
        args: { n: 5 },
        arg_repairs: [{ path: '$.n', rule: 'str_to_integer' }],
        policy: { action: 'require_approval', rule_index: 0, reason: 'Ask first.' },
        quota: [{ scope: 'tool_execute/minute', limit: 5, left: 5 }],
        server: { name: 'fs', state: 'failed', reason: 'exit code 1' },
        replay: 'convergent',
        deadline_ms: 5_000,
        cache: 'miss',
      },
    });
  });

  it('predicts the result from earlier calls of the tool', async () => {
    const { run } = bench(TOOLS);
    await run(READ, { n: 1 });
    await run(READ, { n: 2 });
    const outcome = await run(READ, { n: 3 }, { dryRun: true });
    expect(outcome).toMatchObject({ report: { expected: { calls: 2, result_bytes: { median: 11, max: 11 } } } });
  });
});
