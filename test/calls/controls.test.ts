import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decide } from '../../src/calls/policy/policy.ts';
import { RateLimiter, rateLimited } from '../../src/calls/policy/quota.ts';
import { DEFAULT_POLICY, POLICY } from '../../src/config/declaration/policyBlock.ts';
import { RATE_LIMITS } from '../../src/config/declaration/rateLimitsBlock.ts';
import { globMatches } from '../../src/lib/glob.ts';
import { readField } from '../support/readSettings.ts';

describe('globs', () => {
  it.each([
    ['*', '', true],
    ['issues.*', 'issues.create', true],
    ['issues.*', 'Issues.create', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[]]x', ']x', true],
    ['[x', '[x', true],
    ['a.c', 'abc', false],
    ['*b*d', 'abcd', true],
  ])('%s on %s: %s', (pattern, name, matches) => {
    expect(globMatches(pattern, name)).toBe(matches);
  });

  it('fail in linear time', () => {
    expect(globMatches(`${'*a'.repeat(200)}b`, 'a'.repeat(5_000))).toBe(false);
  });

  it('match any string by itself once special characters are escaped', () => {
    fc.assert(
      fc.property(fc.string(), (name) => {
        const plain = name.replace(/[*?[\]]/g, '');
        expect(globMatches(plain, plain)).toBe(true);
        expect(globMatches(`${plain}*`, `${plain}tail`)).toBe(true);
      }),
    );
  });
});

describe('policy', () => {
  it('matches a server by name, and requires all tags of a rule', () => {
    const policy = readField(POLICY.field, {
      rules: [
        { action: 'deny', server: 'prod' },
        { action: 'require_approval', tags: ['destructive', 'mcp'] },
      ],
    });
    const subject = { metaTool: 'tool_execute' as const, tags: ['mcp'] };
    expect(decide(policy, { ...subject, server: 'prod' })).toEqual({ action: 'deny', rule_index: 0 });
    expect(decide(policy, { ...subject, server: 'test' })).toEqual({ action: 'allow', rule_index: null });
    expect(decide(policy, { ...subject, tags: ['mcp', 'destructive'] }).rule_index).toBe(1);
  });

  it('asks before destructive tools if nothing is configured', () => {
    const subject = { metaTool: 'tool_execute' as const, toolId: 'a:b@1' };
    expect(decide(DEFAULT_POLICY, { ...subject, tags: ['destructive'] }).action).toBe('require_approval');
    expect(decide(DEFAULT_POLICY, { ...subject, tags: ['mcp'] }).action).toBe('allow');
  });
});

describe('quota', () => {
  it('counts per session, and per tool in addition to the meta-tool', () => {
    let now = 0;
    const limits = readField(RATE_LIMITS.field, {
      tool_execute: { maxCallsPerMinute: 3 },
      perTool: { 'a:b@1': { maxCallsPerSession: 1 } },
    });
    const limiter = new RateLimiter(limits, () => now);
    const [one, two] = [{}, {}];
    const take = (session: object, toolId?: string) => limiter.take({ session, metaTool: 'tool_execute', toolId });
    expect(take(one, 'a:b@1').allowed).toBe(true);
    expect(take(two, 'a:b@1').allowed).toBe(true);
    // A call that the tool's own limit refuses does not count for the meta-tool.
    for (let i = 0; i < 5; i++)
      expect(take(one, 'a:b@1')).toMatchObject({ allowed: false, scope: 'tool:a:b@1/session' });
    expect(take(one, 'c:d@1').allowed).toBe(true);
    now = 30;
    expect(take(one)).toEqual({ allowed: false, scope: 'tool_execute/minute', retry_after: 30 });
    expect(limiter.left({ session: one, metaTool: 'tool_execute', toolId: 'a:b@1' })).toEqual([
      { scope: 'tool_execute/minute', limit: 3, left: 0 },
      { scope: 'tool:a:b@1/session', limit: 1, left: 0 },
    ]);
    now = 60;
    expect(take(one).allowed).toBe(true);
  });

  it('counts calls per minute over all sessions, also those that continue here', () => {
    let now = 0;
    const limits = readField(RATE_LIMITS.field, { tool_execute: { maxCallsPerMinute: 5 } });
    const limiter = new RateLimiter(limits, () => now);
    const metaTool = 'tool_execute';
    const fresh = Array.from({ length: 20 }, () => limiter.take({ session: {}, metaTool }).allowed);
    expect(fresh.filter((allowed) => allowed)).toHaveLength(5);
    expect(limiter.evaluate({ session: {}, metaTool })).toMatchObject({ scope: 'tool_execute/minute' });
    now = 60;
    const moved = {};
    for (const age of [0, 1]) limiter.remember(moved, { tool_execute: { recent: [[0, 3]], total: 3 } }, age);
    expect(limiter.left({ session: {}, metaTool })).toEqual([{ scope: 'tool_execute/minute', limit: 5, left: 2 }]);
  });

  it('reports what is left of each limit, of a minute once and of a session for each', () => {
    let now = 0;
    const limits = readField(RATE_LIMITS.field, {
      tool_execute: { maxCallsPerMinute: 3 },
      perTool: { 'a:b@1': { maxCallsPerSession: 2 } },
    });
    const limiter = new RateLimiter(limits, () => now);
    const [one, two] = [{}, {}];
    const windows = () => limiter.windows([one, two], (session) => session);
    expect(windows()[0]).toEqual({ scope: 'tool_execute/minute', limit: 3, left: 3 });
    limiter.take({ session: one, metaTool: 'tool_execute', toolId: 'a:b@1' });
    now = 20;
    limiter.take({ session: two, metaTool: 'tool_execute' });
    expect(windows()).toEqual([
      { scope: 'tool_execute/minute', limit: 3, left: 1, freesIn: 40 },
      { scope: 'tool:a:b@1/session', limit: 2, left: 1, session: one },
      { scope: 'tool:a:b@1/session', limit: 2, left: 2, session: two },
    ]);
  });

  it('continues in another process with another clock, and ignores malformed counts', () => {
    const limits = readField(RATE_LIMITS.field, {
      tool_execute: { maxCallsPerMinute: 2 },
      tool_view: { maxCallsPerSession: 1 },
    });
    let now = 1_000;
    const [before, after] = [new RateLimiter(limits, () => now), new RateLimiter(limits, () => now - 999)];
    const [one, two] = [{}, {}];
    expect(before.memoryOf(one)).toBeUndefined();
    before.take({ session: one, metaTool: 'tool_execute' });
    before.take({ session: one, metaTool: 'tool_view' });
    now += 20;
    before.take({ session: one, metaTool: 'tool_execute' });
    after.remember(two, JSON.parse(JSON.stringify(before.memoryOf(one))));
    expect(after.evaluate({ session: two, metaTool: 'tool_execute' })).toMatchObject({
      allowed: false,
      retry_after: 40,
    });
    expect(after.evaluate({ session: two, metaTool: 'tool_view' })).toMatchObject({ scope: 'tool_view/session' });
    now += 40;
    expect(after.take({ session: two, metaTool: 'tool_execute' }).allowed).toBe(true);
    // Counts that were handed over some time ago have aged since.
    const late = {};
    const third = new RateLimiter(limits, () => now);
    third.remember(late, before.memoryOf(one), 15);
    expect(third.evaluate({ session: late, metaTool: 'tool_execute' }).allowed).toBe(true);
    third.take({ session: late, metaTool: 'tool_execute' });
    expect(third.evaluate({ session: late, metaTool: 'tool_execute' })).toMatchObject({ retry_after: 5 });
    for (const odd of [
      null,
      'x',
      [1],
      { tool_view: null },
      { tool_view: { recent: [7], total: 1 } },
      { tool_view: { recent: [['x', 1]], total: 1 } },
      { tool_view: { recent: [[0, 1e15]], total: 1 } },
      { tool_view: { recent: [], total: -1 } },
    ]) {
      const third = {};
      after.remember(third, odd);
      expect(after.evaluate({ session: third, metaTool: 'tool_view' }).allowed).toBe(true);
    }
  });

  it('notifies only when it has counted; its memory is bounded by the limits', () => {
    const counted: object[] = [];
    const limits = readField(RATE_LIMITS.field, {
      tool_execute: { maxCallsPerSession: 100 },
      tool_view: { maxCallsPerMinute: 2 },
    });
    const limiter = new RateLimiter(
      limits,
      () => 7,
      (session) => void counted.push(session),
    );
    const session = {};
    limiter.take({ session, metaTool: 'tool_browse' });
    limiter.evaluate({ session, metaTool: 'tool_execute' });
    limiter.remember(session, { tool_view: { recent: [[1, 1]], total: 1 } });
    expect(counted).toEqual([]);
    for (let i = 0; i < 50; i++) limiter.take({ session, metaTool: 'tool_execute' });
    expect(counted).toHaveLength(50);
    for (let i = 0; i < 5; i++) limiter.take({ session, metaTool: 'tool_view' });
    expect(counted).toHaveLength(51);
    expect(counted[0]).toBe(session);
    expect(limiter.memoryOf(session)).toEqual({
      tool_execute: { recent: [], total: 50 },
      tool_view: {
        recent: [
          [1, 1],
          [0, 1],
        ],
        total: 2,
      },
    });
  });

  it('admits a resent request without counting it twice', () => {
    const counted: unknown[] = [];
    const limiter = new RateLimiter(
      readField(RATE_LIMITS.field, { tool_execute: { maxCallsPerSession: 1 } }),
      () => 0,
      (_session, requestId) => counted.push(requestId),
    );
    const session = {};
    const take = (requestId: string, counted: boolean) =>
      limiter.take({ session, metaTool: 'tool_execute', requestId, counted }).allowed;
    expect([take('a', false), take('a', true), take('a', true), take('b', false)]).toEqual([true, true, true, false]);
    expect(counted).toEqual(['a']);
  });

  it('marks an error as retryable only if waiting helps', () => {
    const refused = (scope: string, wait: number | null) =>
      rateLimited('a:b@1', { allowed: false, scope, retry_after: wait }).retryable;
    expect([refused('tool_execute/minute', 12), refused('tool_execute/session', null)]).toEqual([true, false]);
  });

  it('never admits more calls in any minute than its limit', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(40), { maxLength: 60 }), fc.integer({ min: 1, max: 5 }), (gaps, limit) => {
        let now = 0;
        const limiter = new RateLimiter(
          { tool_view: { maxCallsPerMinute: limit, maxCallsPerSession: null } },
          () => now,
        );
        const session = {};
        const passed: number[] = [];
        for (const gap of gaps) {
          now += gap;
          const { allowed, retry_after: wait } = limiter.take({ session, metaTool: 'tool_view' });
          if (allowed) passed.push(now);
          else expect(wait).toBeGreaterThan(0);
          expect(passed.filter((at) => now - at < 60).length).toBeLessThanOrEqual(limit);
        }
      }),
    );
  });
});
