import { type ChildProcess, spawn } from 'node:child_process';
import { getEventListeners, once } from 'node:events';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Fault, faultOf } from '../../src/errors/fault.ts';
import type { KnownFaultCode } from '../../src/errors/faultCodes.ts';
import { SYSTEM_CLOCK } from '../../src/lib/clock.ts';
import type { HealthSnapshot } from '../../src/supervision/health.ts';
import { type Running, type StartContext, UnavailableError } from '../../src/supervision/supervised.ts';
import { Supervisor } from '../../src/supervision/supervisor.ts';

const fault = (code: KnownFaultCode, generation = 1) => faultOf(code, { generation }, (text) => text);
/** Lets pending work finish without advancing the clock. */
const settle = () => new Promise<void>((done) => setImmediate(done));

/** Plays a process for the supervisor, under a clock that the test advances. */
class Stage {
  now = 0;
  timers: { at: number; run: () => void }[] = [];
  starts: { context: StartContext; up: () => void; down: (error: unknown) => void; exit: (fault: Fault) => void }[] =
    [];
  readonly ended: string[] = [];
  readonly reports: string[] = [];
  /** State of the supervisor at each failed start. */
  readonly failures: unknown[] = [];
  readonly health: HealthSnapshot[] = [];
  endFails = false;

  readonly supervisor = new Supervisor<string>({
    start: (context) =>
      new Promise<Running<string>>((resolve, reject) => {
        let exit: (fault: Fault) => void = () => undefined;
        const exited = new Promise<Fault>((done) => {
          exit = done;
        });
        const handle = `h${context.generation}`;
        const up = (): void => resolve({ handle, exited });
        this.starts.push({ context, up, down: reject, exit: (how) => exit(how) });
      }),
    end: (handle) => {
      this.ended.push(handle);
      return this.endFails ? Promise.reject(new Error('will not end')) : settle();
    },
    faultOf: (error, generation) => fault(error as KnownFaultCode, generation),
    onReady: (handle, generation) => void this.reports.push(`ready ${handle} ${generation}`),
    onLost: (generation, { code }) => void this.reports.push(`lost ${generation} ${code}`),
    onFailed: ({ code }, error) => void this.failures.push([code, error, this.supervisor.health.supervision]),
    onUnavailable: (error) => void this.reports.push(`unavailable ${error.fault.code} ${error.retryAfter}`),
    onChange: (health) => void this.health.push(health),
    clock: {
      now: () => this.now,
      random: () => 1,
      after: (ms, run) => {
        const timer = { at: this.now + ms, run };
        this.timers.push(timer);
        return () => {
          this.timers = this.timers.filter((one) => one !== timer);
        };
      },
    },
  });

  get last() {
    return this.starts.at(-1) as Stage['starts'][number];
  }

  async up(): Promise<void> {
    this.last.up();
    await settle();
  }

  async down(code: KnownFaultCode): Promise<void> {
    this.last.down(code);
    await settle();
  }

  async exit(code: KnownFaultCode = 'exited'): Promise<void> {
    this.last.exit(fault(code, this.last.context.generation));
    await settle();
  }

  async pass(ms: number): Promise<void> {
    this.now += ms;
    const due = this.timers.filter(({ at }) => at <= this.now);
    this.timers = this.timers.filter(({ at }) => at > this.now);
    for (const { run } of due) run();
    await settle();
  }
}

const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => 'it was not refused',
    (error: UnavailableError) => [error.constructor, error.fault?.code, error.retryAfter],
  );

describe('a supervised process', () => {
  it('is started once on request', async () => {
    const stage = new Stage();
    expect([stage.starts.length, stage.supervisor.health.state]).toEqual([0, 'cold']);
    stage.supervisor.start();
    stage.supervisor.start();
    const ready = [stage.supervisor.ready(), stage.supervisor.ready()];
    expect([stage.starts.length, stage.supervisor.handle]).toEqual([1, undefined]);
    stage.last.context.initializing();
    expect(stage.supervisor.health.worker_handshake).toBe('initializing');
    await stage.up();
    expect(await Promise.all(ready)).toEqual(['h1', 'h1']);
    expect(await stage.supervisor.ready()).toBe('h1');
    expect([stage.supervisor.handle, stage.reports]).toEqual(['h1', ['ready h1 1']]);
    expect(stage.health.map(({ worker_handshake }) => worker_handshake)).toEqual(['starting', 'initializing', 'ready']);
  });

  it('is restarted at once after its end, without a timer in between', async () => {
    const stage = new Stage();
    stage.supervisor.start();
    await stage.up();
    await stage.exit('killed');
    expect([stage.starts.length, stage.timers.length]).toEqual([2, 0]);
    expect(stage.reports).toEqual(['ready h1 1', 'lost 1 killed']);
    expect(stage.ended).toEqual(['h1']);
    expect(stage.supervisor.health).toMatchObject({
      state: 'recovering',
      generation: 2,
      restart_count: 1,
      consecutive_failures: 1,
      last_fault: { code: 'killed', generation: 1 },
    });
    const waiting = stage.supervisor.ready();
    await stage.up();
    expect(await waiting).toBe('h2');
  });

  it('is restarted with growing delays, while callers keep waiting', async () => {
    const stage = new Stage();
    const waiting = stage.supervisor.ready();
    await stage.down('exited_before_initialize');
    await stage.down('exited_before_initialize');
    expect(stage.supervisor.health).toMatchObject({ supervision: 'backing_off', next_attempt_in_ms: 100 });
    stage.supervisor.start();
    await stage.pass(99);
    expect(stage.starts).toHaveLength(2);
    await stage.pass(1);
    expect(stage.starts).toHaveLength(3);
    await stage.up();
    expect(await waiting).toBe('h3');
    expect(stage.reports).toEqual(['ready h3 3']);
  });

  it('in a crash loop is tried once a minute, and callers do not wait', async () => {
    const stage = new Stage();
    const waiting = refusal(stage.supervisor.ready());
    for (const delay of [0, 100, 200, 400]) {
      await stage.down('exited_before_initialize');
      await stage.pass(delay);
    }
    await stage.down('exited_before_initialize');
    expect(stage.starts).toHaveLength(5);
    expect(await waiting).toEqual([UnavailableError, 'crash_loop', 60]);
    expect(stage.reports).toEqual(['unavailable crash_loop 60']);
    expect(stage.supervisor.health).toMatchObject({
      supervision: 'crash_loop',
      state: 'recovering',
      last_fault: { code: 'exited_before_initialize' },
    });
    await stage.pass(59_500);
    expect(await refusal(stage.supervisor.ready())).toEqual([UnavailableError, 'crash_loop', 1]);
    await stage.pass(500);
    // A caller may wait for the one start of the minute.
    const hopeful = refusal(stage.supervisor.ready());
    expect(stage.starts).toHaveLength(6);
    await stage.down('exited_before_initialize');
    expect(await hopeful).toEqual([UnavailableError, 'crash_loop', 60]);
    await stage.pass(60_000);
    await stage.up();
    expect(await stage.supervisor.ready()).toBe('h7');
  });

  it('that needs the user waits for the user', async () => {
    for (const [code, supervision] of [
      ['unauthorized', 'needs_sign_in'],
      ['spawn_enoent', 'needs_configuration'],
    ] as const) {
      const stage = new Stage();
      const waiting = refusal(stage.supervisor.ready());
      await stage.down(code);
      expect(await waiting).toEqual([UnavailableError, code, undefined]);
      expect(stage.supervisor.health).toMatchObject({ state: 'cold', supervision });
      stage.supervisor.start();
      await stage.pass(1_000_000);
      expect(await refusal(stage.supervisor.ready())).toEqual([UnavailableError, code, undefined]);
      expect([stage.starts.length, stage.timers.length]).toEqual([1, 0]);
      stage.supervisor.retryNow();
      expect([stage.starts.length, stage.supervisor.health.restart_count]).toEqual([2, 0]);
      await stage.up();
      expect(await stage.supervisor.ready()).toBe('h2');
    }
  });

  it('is tried at once, and at the first pace, on request', async () => {
    const stage = new Stage();
    stage.supervisor.retryNow();
    expect(stage.starts).toHaveLength(0);
    stage.supervisor.start();
    stage.supervisor.retryNow();
    for (let i = 0; i < 3; i++) {
      await stage.down('exited');
      await stage.pass(200);
    }
    await stage.down('exited');
    stage.supervisor.retryNow();
    expect([stage.starts.length, stage.timers.length]).toEqual([5, 0]);
    await stage.down('exited');
    expect(stage.starts).toHaveLength(6);
  });

  it('is started early for a waiting caller, and its failures still count', async () => {
    const stage = new Stage();
    stage.supervisor.startNow();
    stage.supervisor.startNow();
    expect([stage.starts.length, stage.supervisor.health.restart_count]).toEqual([1, 0]);
    await stage.down('exited');
    await stage.down('exited');
    expect(stage.supervisor.health.supervision).toBe('backing_off');
    stage.supervisor.startNow();
    expect([stage.starts.length, stage.timers.length, stage.supervisor.health.restart_count]).toEqual([3, 0, 2]);
    await stage.down('exited');
    expect(stage.supervisor.health.next_attempt_in_ms).toBe(200);
    stage.supervisor.startNow();
    await stage.up();
    stage.supervisor.startNow();
    expect([stage.starts.length, stage.supervisor.handle]).toEqual([4, 'h4']);
    await stage.exit();
    stage.supervisor.startNow();
    await stage.down('exited');
    expect(stage.supervisor.health).toMatchObject({ supervision: 'crash_loop', consecutive_failures: 5 });
    stage.supervisor.startNow();
    expect([stage.starts.length, stage.timers.length]).toEqual([6, 0]);
    await stage.down('exited');
    expect(stage.supervisor.health).toMatchObject({ supervision: 'crash_loop', next_attempt_in_ms: 60_000 });
  });

  it('is not started early if the user is needed, or after the disposal', async () => {
    const stage = new Stage();
    stage.supervisor.start();
    await stage.down('spawn_enoent');
    stage.supervisor.startNow();
    await stage.supervisor.dispose();
    stage.supervisor.startNow();
    expect(stage.starts).toHaveLength(1);
  });

  it('that has served something starts a new series of failures', async () => {
    const stage = new Stage();
    stage.supervisor.start();
    for (let ends = 1; ends <= 6; ends++) {
      await stage.up();
      stage.supervisor.proved();
      expect(stage.supervisor.health.consecutive_failures).toBe(0);
      await stage.exit();
      expect([stage.starts.length, stage.timers.length]).toEqual([ends + 1, 0]);
    }
    // A running delay stays.
    await stage.down('exited');
    stage.supervisor.proved();
    expect([stage.starts.length, stage.timers.length]).toEqual([7, 1]);
  });

  it('reports the cause of a failed start after the next step is decided', async () => {
    const stage = new Stage();
    stage.supervisor.start();
    await stage.down('exited');
    await stage.down('killed');
    await stage.pass(100);
    await stage.down('spawn_enoent');
    const failures = [
      ['exited', 'exited', 'starting'],
      ['killed', 'killed', 'backing_off'],
      ['spawn_enoent', 'spawn_enoent', 'needs_configuration'],
    ];
    expect(stage.failures).toEqual(failures);
    stage.supervisor.retryNow();
    await stage.up();
    await stage.exit();
    // Neither the lost process nor the unwanted one is a failed start.
    void stage.supervisor.stop();
    await stage.down('exited');
    expect(stage.failures).toEqual(failures);
    expect(stage.reports).toEqual(['unavailable spawn_enoent undefined', 'ready h4 4', 'lost 4 exited']);
  });

  it('ends on request, which is no failure, and may start again', async () => {
    const stage = new Stage();
    stage.supervisor.start();
    await stage.up();
    await stage.supervisor.stop();
    expect([stage.ended, stage.reports]).toEqual([['h1'], ['ready h1 1', 'lost 1 stopped']]);
    expect(stage.supervisor.health).toMatchObject({ state: 'cold', supervision: 'idle', consecutive_failures: 0 });
    expect(stage.supervisor.health).not.toHaveProperty('last_fault');
    // This exit was requested.
    await stage.exit();
    expect([stage.starts.length, stage.ended.length]).toEqual([1, 1]);
    const again = stage.supervisor.ready();
    await stage.up();
    expect(await again).toBe('h2');
    expect(stage.supervisor.health.restart_count).toBe(0);
  });

  it('stopped during its start ends when it is ready', async () => {
    const stage = new Stage();
    const waiting = refusal(stage.supervisor.ready());
    const { context, up } = stage.last;
    const stopping = stage.supervisor.stop();
    expect(context.signal.aborted).toBe(true);
    expect(await waiting).toEqual([UnavailableError, 'stopped', undefined]);
    await stopping;
    context.initializing();
    expect(stage.supervisor.health.worker_handshake).toBe('absent');
    up();
    await settle();
    expect([stage.ended, stage.reports, stage.supervisor.handle]).toEqual([['h1'], [], undefined]);
    stage.supervisor.start();
    stage.starts[0]?.down('exited');
    await settle();
    // A stopped start changes nothing any more.
    context.initializing();
    expect([stage.starts.length, stage.supervisor.health.worker_handshake]).toEqual([2, 'starting']);
  });

  it('stopped during a delay does not start', async () => {
    const stage = new Stage();
    stage.supervisor.start();
    await stage.down('exited');
    await stage.down('exited');
    await stage.supervisor.stop();
    expect(stage.timers).toEqual([]);
    expect(stage.supervisor.health.supervision).toBe('idle');
  });

  it('is over for good after its disposal', async () => {
    const stage = new Stage();
    stage.supervisor.start();
    await stage.up();
    stage.endFails = true;
    await stage.supervisor.dispose();
    const { length } = stage.health;
    await stage.supervisor.dispose();
    await stage.supervisor.stop();
    expect(stage.health).toHaveLength(length);
    stage.supervisor.start();
    stage.supervisor.retryNow();
    expect(await refusal(stage.supervisor.ready())).toEqual([UnavailableError, 'stopped', undefined]);
    expect([stage.starts.length, stage.ended]).toEqual([1, ['h1']]);
    expect(stage.supervisor.health.supervision).toBe('stopped');
    const unused = new Stage();
    await unused.supervisor.dispose();
    expect(await refusal(unused.supervisor.ready())).toEqual([UnavailableError, 'stopped', undefined]);
  });

  it("is awaited until the end of its start, within the caller's limit", async () => {
    const stage = new Stage();
    const impatience = new AbortController();
    const waiting = stage.supervisor.ready(impatience.signal);
    const patient = stage.supervisor.ready(new AbortController().signal);
    impatience.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(stage.supervisor.ready(AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
    await stage.up();
    expect(await patient).toBe('h1');
  });

  it('ends the wait of callers when it is disposed of', async () => {
    const stage = new Stage();
    const impatience = new AbortController();
    const waiting = stage.supervisor.ready(impatience.signal);
    expect(getEventListeners(impatience.signal, 'abort')).toHaveLength(1);
    await stage.up();
    await waiting;
    expect(getEventListeners(impatience.signal, 'abort')).toHaveLength(0);
  });

  it('needs no listeners', async () => {
    let exit: (fault: Fault) => void = () => undefined;
    let starts = 0;
    const supervisor = new Supervisor<string>({
      start: async () => {
        starts += 1;
        const exited = new Promise<Fault>((done) => {
          exit = done;
        });
        return { handle: 'h', exited };
      },
      end: () => settle(),
      faultOf: () => fault('spawn_failed'),
      clock: { now: () => 0, random: () => 0, after: () => () => undefined },
    });
    await supervisor.ready();
    exit(fault('killed'));
    await settle();
    expect([starts, supervisor.handle]).toEqual([2, 'h']);
    await supervisor.dispose();
    expect(supervisor.health.last_fault?.code).toBe('killed');
  });

  it('reports a rollout', () => {
    const stage = new Stage();
    stage.supervisor.rollout('pending');
    expect(stage.health.map(({ rollout }) => rollout)).toEqual(['pending']);
  });

  it('has one start at a time and one end each, in any order of events', async () => {
    const events = fc.array(
      fc.constantFrom('start', 'now', 'up', 'down', 'park', 'exit', 'proved', 'stop', 'retry', 'wait', 'pass', 'long'),
      { maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(events, async (all) => {
        const stage = new Stage();
        const waiting: Promise<unknown>[] = [];
        for (const event of all) {
          const begun = stage.starts.length > 0;
          if (event === 'start') stage.supervisor.start();
          else if (event === 'now') stage.supervisor.startNow();
          else if (event === 'proved') stage.supervisor.proved();
          else if (event === 'stop') void stage.supervisor.stop();
          else if (event === 'retry') stage.supervisor.retryNow();
          else if (event === 'wait') waiting.push(stage.supervisor.ready().catch(() => 'refused'));
          else if (event === 'pass') await stage.pass(100);
          else if (event === 'long') await stage.pass(60_000);
          else if (begun && event === 'up') await stage.up();
          else if (begun && event === 'down') await stage.down('exited');
          else if (begun && event === 'park') await stage.down('spawn_enoent');
          else if (begun) await stage.exit();
          expect(stage.timers.length).toBeLessThanOrEqual(1);
          const { supervision } = stage.supervisor.health;
          expect(stage.supervisor.handle !== undefined).toBe(supervision === 'running');
          expect(stage.timers.length === 1).toBe(supervision === 'backing_off' || supervision === 'crash_loop');
        }
        await stage.supervisor.dispose();
        await Promise.all(waiting);
        for (const { up } of stage.starts) up();
        await settle();
        // A failed start has nothing to end.
        expect(new Set(stage.ended).size).toBe(stage.ended.length);
        const readied = stage.reports.filter((line) => line.startsWith('ready')).length;
        expect(stage.reports.filter((line) => line.startsWith('lost'))).toHaveLength(readied);
        expect(stage.timers).toEqual([]);
      }),
      { seed: 11, numRuns: 300 },
    );
  });
});

describe('a real process', () => {
  const running: ChildProcess[] = [];

  function supervise(script: string) {
    const lost: string[] = [];
    const supervisor = new Supervisor<ChildProcess>({
      start: async ({ generation, signal }) => {
        const child = spawn(process.execPath, ['-e', script], { signal, stdio: ['pipe', 'pipe', 'ignore'] });
        running.push(child);
        child.on('error', () => undefined);
        const exited = once(child, 'exit').then(([code, by]) =>
          faultOf(by === null ? 'exited' : 'killed', { generation, detail: String(by ?? code) }, (text) => text),
        );
        const failed = await Promise.race([once(child.stdout, 'data').then(() => undefined), exited]);
        if (failed) throw failed;
        return { handle: child, exited };
      },
      end: async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        child.kill();
        await once(child, 'exit');
      },
      faultOf: (error) => error as Fault,
      onLost: (_, { code, detail }) => void lost.push(`${code} ${detail}`),
      clock: SYSTEM_CLOCK,
    });
    return { supervisor, lost };
  }

  it('is restarted after a kill, and leaves no process behind', async () => {
    const { supervisor, lost } = supervise("console.log('up'); process.stdin.resume()");
    let pids: (number | undefined)[] = [];
    for (let kills = 0; kills < 3; kills++) {
      const child = await supervisor.ready();
      pids = [...pids, child.pid];
      child.kill('SIGKILL');
      await once(child, 'exit');
      await settle();
    }
    await supervisor.ready();
    expect(supervisor.health).toMatchObject({
      state: 'ready',
      generation: 4,
      restart_count: 3,
      consecutive_failures: 3,
    });
    expect(lost).toEqual(['killed SIGKILL', 'killed SIGKILL', 'killed SIGKILL']);
    expect(new Set(pids).size).toBe(3);
    await supervisor.dispose();
    expect(running.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)).toEqual([]);
  });

  it('that cannot run is given up after five starts', async () => {
    const { supervisor } = supervise('process.exit(3)');
    const error = await supervisor.ready().catch((one: unknown) => one);
    expect(error).toBeInstanceOf(UnavailableError);
    expect((error as UnavailableError).fault).toMatchObject({ code: 'crash_loop', detail: 'exited: 3' });
    expect(supervisor.health).toMatchObject({ generation: 5, consecutive_failures: 5, supervision: 'crash_loop' });
    await supervisor.dispose();
  });
});
