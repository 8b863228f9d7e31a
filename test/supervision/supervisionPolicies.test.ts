import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultOf } from '../../src/errors/fault.ts';
import type { KnownFaultCode } from '../../src/errors/faultCodes.ts';
import {
  BREAKER_LIMITS,
  type CallPermit,
  CircuitBreaker,
  countsAgainstServer,
} from '../../src/supervision/circuitBreaker.ts';
import { HealthRecord } from '../../src/supervision/health.ts';
import { RESTART_LIMITS, RestartPolicy } from '../../src/supervision/restartPolicy.ts';

const fault = (code: KnownFaultCode = 'exited') => faultOf(code, { generation: 1 }, (text) => text);

describe('the pace of restarts', () => {
  function policy(random = () => 1) {
    const clock = { now: 1_000 };
    return { clock, policy: new RestartPolicy(() => clock.now, random) };
  }
  const delays = (one: RestartPolicy, times: number) =>
    Array.from({ length: times }, () => {
      const decision = one.failed(fault());
      return decision.action === 'start' ? decision.delayMs : decision.until;
    });

  it('is 0, 100, 200, 400 … ms, and one minute after five ends in three minutes', () => {
    expect(delays(policy().policy, 6)).toEqual([0, 100, 200, 400, 60_000, 60_000]);
  });

  it('doubles up to 30 s if the ends are farther apart than a loop', () => {
    const { policy: one, clock } = policy();
    const seen = Array.from({ length: 12 }, () => {
      clock.now += 50_000;
      return delays(one, 1)[0];
    });
    expect(seen).toEqual([0, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
    expect(one.crashLoop).toBe(false);
  });

  it('has full jitter', () => {
    expect(delays(policy(() => 0.25).policy, 4)).toEqual([0, 25, 50, 100]);
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        fc.integer({ min: 1, max: 40 }),
        (chance, n) => {
          const { policy: one, clock } = policy(() => chance);
          for (let i = 0; i < n; i++) {
            clock.now += 200_000;
            const decision = one.failed(fault());
            const full = i === 0 ? 0 : Math.min(30_000, 100 * 2 ** (i - 1));
            expect(decision).toEqual({ action: 'start', delayMs: chance * full, crashLoop: false });
          }
        },
      ),
      { seed: 2 },
    );
  });

  it('ignores ends before the window', () => {
    const { policy: one, clock } = policy();
    delays(one, 4);
    clock.now += RESTART_LIMITS.windowMs;
    expect(one.failed(fault())).toMatchObject({ crashLoop: false });
    clock.now += RESTART_LIMITS.windowMs - 1;
    delays(one, 3);
    expect(one.failed(fault())).toMatchObject({ crashLoop: true, delayMs: 60_000 });
  });

  it('stays that of a crash loop until a start was stable', () => {
    const { policy: one, clock } = policy();
    delays(one, 5);
    expect([one.crashLoop, one.consecutiveFailures]).toEqual([true, 5]);
    // One start a minute never fills the window, but is still a loop.
    for (let i = 0; i < 10; i++) {
      clock.now += 60_000;
      one.ready();
      clock.now += RESTART_LIMITS.stableMs - 1;
      expect(one.failed(fault())).toEqual({ action: 'start', delayMs: 60_000, crashLoop: true });
    }
    one.ready();
    expect(one.crashLoop).toBe(true);
    clock.now += RESTART_LIMITS.stableMs;
    expect([one.crashLoop, one.consecutiveFailures]).toEqual([false, 0]);
    expect(delays(one, 4)).toEqual([0, 100, 200, 400]);
  });

  it('is reset only by a stable time', () => {
    const { policy: one, clock } = policy();
    delays(one, 3);
    one.ready();
    clock.now += RESTART_LIMITS.stableMs - 1;
    expect(delays(one, 1)).toEqual([400]);
    one.ready();
    clock.now += RESTART_LIMITS.stableMs;
    expect(delays(one, 2)).toEqual([0, 100]);
  });

  it('does not count a requested end, and keeps the credit of a stable time', () => {
    const { policy: one, clock } = policy();
    delays(one, 3);
    one.ready();
    one.stopped();
    expect(one.consecutiveFailures).toBe(3);
    // Nothing runs, so this time does not count as stable.
    clock.now += RESTART_LIMITS.stableMs * 2;
    expect(one.consecutiveFailures).toBe(3);
    one.ready();
    clock.now += RESTART_LIMITS.stableMs;
    one.stopped();
    expect([one.consecutiveFailures, ...delays(one, 1)]).toEqual([0, 0]);
  });

  it('does not apply if only the user can help', () => {
    const { policy: one } = policy();
    expect(one.failed(fault('unauthorized'))).toEqual({ action: 'park', until: 'sign_in' });
    for (const code of ['spawn_enoent', 'unsupported_version', 'needs_approval'] as const) {
      expect(one.failed(fault(code))).toEqual({ action: 'park', until: 'configuration' });
    }
    expect([one.consecutiveFailures, one.crashLoop]).toEqual([4, false]);
    one.reset();
    expect([one.consecutiveFailures, ...delays(one, 4)]).toEqual([0, 0, 100, 200, 400]);
  });

  it('starts again if the cause has changed', () => {
    const { policy: one } = policy();
    delays(one, 7);
    one.reset();
    expect([one.crashLoop, ...delays(one, 5)]).toEqual([false, 0, 100, 200, 400, 60_000]);
  });
});

describe('the circuit breaker of a server', () => {
  function breaker() {
    const clock = { now: 5_000 };
    return { clock, breaker: new CircuitBreaker(() => clock.now) };
  }
  function permit(one: CircuitBreaker): CallPermit {
    const answer = one.admit();
    if (!answer.allowed) throw new Error('not allowed');
    return answer.permit;
  }
  const fail = (one: CircuitBreaker, times: number, retryAfter?: number) => {
    for (let i = 0; i < times; i++) permit(one).failed(fault(), retryAfter);
  };

  it('opens after five failed calls in a row', () => {
    const { breaker: one } = breaker();
    fail(one, 4);
    permit(one).succeeded();
    fail(one, 4);
    expect(one.state).toBe('closed');
    fail(one, 1);
    expect([one.state, one.admit()]).toEqual(['open', { allowed: false, retryAfter: 30 }]);
  });

  it('still counts running calls after one has succeeded', () => {
    const { breaker: one } = breaker();
    const [well, unwell] = [permit(one), permit(one)];
    well.succeeded();
    unwell.failed(fault());
    fail(one, 4);
    expect(one.state).toBe('open');
  });

  it('counts only errors that show a sick server', () => {
    const counting = [
      'connection_lost',
      'exited',
      'call_timeout',
      'malformed_response',
      'outcome_unknown',
      'replay_exhausted',
      'upstream_unavailable',
      'upstream_timeout',
    ] as const;
    const others = [
      'upstream_error',
      'unauthorized',
      'forbidden',
      'rate_limited',
      'queue_overflow',
      'drain_limit',
      'invalid_state',
    ] as const;
    for (const code of counting) expect([code, countsAgainstServer(fault(code))]).toEqual([code, true]);
    for (const code of others) expect([code, countsAgainstServer(fault(code))]).toEqual([code, false]);
  });

  it('treats an error answer of a healthy server as a success', () => {
    const { breaker: one } = breaker();
    fail(one, 4);
    permit(one).failed(fault('forbidden'));
    fail(one, 4);
    expect(one.state).toBe('closed');
  });

  it('ignores a call that was never sent', () => {
    const { breaker: one } = breaker();
    fail(one, 4);
    permit(one).abandoned();
    fail(one, 1);
    expect(one.state).toBe('open');
  });

  it('allows one call after its time, and closes if that succeeds', () => {
    const { breaker: one, clock } = breaker();
    fail(one, 5);
    clock.now += 29_001;
    expect(one.admit()).toEqual({ allowed: false, retryAfter: 1 });
    clock.now += 999;
    expect(one.state).toBe('half_open');
    const trial = permit(one);
    expect(one.admit()).toEqual({ allowed: false, retryAfter: 1 });
    trial.succeeded();
    expect(one.state).toBe('closed');
    fail(one, 4);
    expect(one.state).toBe('closed');
    fail(one, 1);
    // The success in between resets the time too.
    expect(one.admit()).toEqual({ allowed: false, retryAfter: 30 });
  });

  it('doubles its time after each failed trial, up to five minutes', () => {
    const { breaker: one, clock } = breaker();
    fail(one, 5);
    const waits = Array.from({ length: 6 }, () => {
      const answer = one.admit();
      clock.now += BREAKER_LIMITS.maxOpenMs;
      fail(one, 1);
      return answer.allowed ? 0 : answer.retryAfter;
    });
    expect(waits).toEqual([30, 60, 120, 240, 300, 300]);
  });

  it('allows another call if the trial had no outcome', () => {
    const { breaker: one, clock } = breaker();
    fail(one, 5);
    clock.now += 30_000;
    permit(one).abandoned();
    permit(one).succeeded();
    expect(one.state).toBe('closed');
  });

  it('waits as long as the server asks, within a limit', () => {
    const long = breaker();
    fail(long.breaker, 5, 90);
    expect(long.breaker.admit()).toEqual({ allowed: false, retryAfter: 90 });
    const short = breaker();
    fail(short.breaker, 5, 3);
    expect(short.breaker.admit()).toEqual({ allowed: false, retryAfter: 30 });
    const endless = breaker();
    fail(endless.breaker, 5, 86_400);
    expect(endless.breaker.admit()).toEqual({ allowed: false, retryAfter: 300 });
  });

  it('counts each call once, and ignores calls from before it opened', () => {
    const { breaker: one, clock } = breaker();
    const twice = permit(one);
    for (let i = 0; i < 9; i++) twice.failed(fault());
    expect(one.state).toBe('closed');
    const [early, failing, idle] = [permit(one), permit(one), permit(one)];
    fail(one, 4);
    expect(one.state).toBe('open');
    early.succeeded();
    expect(one.state).toBe('open');
    failing.failed(fault());
    idle.abandoned();
    expect(one.admit()).toEqual({ allowed: false, retryAfter: 30 });
    clock.now += 30_000;
    const trial = permit(one);
    one.reset();
    trial.failed(fault());
    expect(one.state).toBe('closed');
    fail(one, 4);
    expect(one.state).toBe('closed');
  });

  it('ignores a failure from before it opened, even after it has closed', () => {
    const { breaker: one, clock } = breaker();
    const early = permit(one);
    fail(one, 5);
    clock.now += 30_000;
    permit(one).succeeded();
    early.failed(fault());
    fail(one, 4);
    expect(one.state).toBe('closed');
  });

  it('always allows a call in the end, whatever happened', () => {
    const events = fc.array(fc.constantFrom('ok', 'fail', 'abandon', 'wait', 'hold'), { maxLength: 60 });
    fc.assert(
      fc.property(events, (all) => {
        const { breaker: one, clock } = breaker();
        const held: CallPermit[] = [];
        for (const event of all) {
          if (event === 'wait') clock.now += 30_000;
          const answer = one.admit();
          if (!answer.allowed) continue;
          if (event === 'ok') answer.permit.succeeded();
          else if (event === 'fail') answer.permit.failed(fault());
          else if (event === 'hold') held.push(answer.permit);
          else answer.permit.abandoned();
        }
        for (const one of held) one.abandoned();
        clock.now += BREAKER_LIMITS.maxOpenMs;
        expect(one.admit().allowed).toBe(true);
      }),
      { seed: 3, numRuns: 500 },
    );
  });
});

describe('a health record', () => {
  function record() {
    const clock = { now: 100, failures: 0 };
    const health = new HealthRecord(() => clock.now);
    health.countFailuresWith(() => clock.failures);
    return { clock, health };
  }
  const base = {
    generation: 1,
    uptime_ms: 0,
    consecutive_failures: 0,
    restart_count: 0,
    rollout: 'stable',
  };

  it('is cold, not down, before the first use', () => {
    expect(new HealthRecord(() => 0).snapshot()).toEqual({
      ...base,
      state: 'cold',
      worker_handshake: 'absent',
      supervision: 'idle',
    });
  });

  it('follows a start to readiness', () => {
    const { clock, health } = record();
    health.starting(1, false);
    expect(health.snapshot()).toEqual({
      ...base,
      state: 'starting',
      worker_handshake: 'starting',
      supervision: 'starting',
    });
    health.initializing();
    expect(health.snapshot()).toMatchObject({ state: 'starting', worker_handshake: 'initializing' });
    health.ready();
    clock.now += 1_234.4;
    expect(health.snapshot()).toEqual({
      ...base,
      state: 'ready',
      uptime_ms: 1_234,
      worker_handshake: 'ready',
      supervision: 'running',
    });
    // Too late to count.
    health.initializing();
    expect(health.snapshot().worker_handshake).toBe('ready');
  });

  it('shows a failure and the time of the next attempt', () => {
    const { clock, health } = record();
    health.starting(1, false);
    health.ready();
    clock.failures = 1;
    health.failed(fault(), 'backing_off', 350);
    clock.now += 50.3;
    expect(health.snapshot()).toEqual({
      ...base,
      state: 'recovering',
      consecutive_failures: 1,
      worker_handshake: 'failed',
      supervision: 'backing_off',
      last_fault: fault(),
      next_attempt_in_ms: 200,
    });
    clock.now += 1_000;
    expect(health.snapshot().next_attempt_in_ms).toBe(0);
    health.starting(2, true);
    expect(health.snapshot()).toMatchObject({ state: 'recovering', generation: 2, restart_count: 1 });
    expect(health.snapshot()).not.toHaveProperty('next_attempt_in_ms');
    health.starting(3, false);
    expect(health.snapshot().restart_count).toBe(1);
  });

  it.each([
    ['crash_loop', 'recovering', 'failed'],
    ['needs_sign_in', 'cold', 'failed'],
    ['needs_configuration', 'cold', 'failed'],
    ['stopped', 'cold', 'absent'],
  ] as const)('in %s is %s with a handshake that is %s', (supervision, state, handshake) => {
    const { health } = record();
    health.failed(fault(), supervision);
    expect(health.snapshot()).toMatchObject({ state, worker_handshake: handshake, supervision });
    expect(health.supervision).toBe(supervision);
  });

  it('keeps its last fault and its rollout after a requested end', () => {
    const { health } = record();
    health.failed(fault(), 'backing_off', 500);
    health.rollout('reloading');
    health.ended('idle');
    expect(health.snapshot()).toEqual({
      ...base,
      state: 'cold',
      rollout: 'reloading',
      worker_handshake: 'absent',
      supervision: 'idle',
      last_fault: fault(),
    });
  });
});
