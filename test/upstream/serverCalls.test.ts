import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../src/lib/deferred.ts';
import { UpstreamRequestError } from '../../src/mcp/wire/upstreamClient.ts';
import type { Probe } from '../../src/replay/probe.ts';
import type { ReplayContract } from '../../src/replay/replay.ts';
import { CallFailedError } from '../../src/upstream/connection/callFailed.ts';
import { NotDispatchedError } from '../../src/upstream/connection/notDispatched.ts';
import type { Live } from '../../src/upstream/start/serverStart.ts';
import {
  abortable,
  failed,
  failing,
  fault,
  type Json,
  type ScriptedClient,
  Server,
  turns,
  WAIT,
} from './scriptedServer.ts';

describe('the calls of a server', () => {
  it('after a loss end by contract, with the reason for the end of the process', async () => {
    const server = new Server();
    const live = server.start();
    const sent: string[] = [];
    server.reply = ({ generation }, _method, { name }) => {
      sent.push(`${name}@${generation}`);
      return generation === 1 ? new Promise(() => undefined) : Promise.resolve({ name });
    };
    const ends: number[] = [];
    const call = (name: string, contract: ReplayContract) =>
      server.calls.send('tools/call', { name }, { ...WAIT, contract, onEnd: (n) => ends.push(n) });
    const never = failed(call('never', 'never_replay'));
    const read = call('read', 'convergent');
    server.end(live);
    expect(await never).toMatchObject({
      name: 'CallFailedError',
      failure: 'closed',
      knowledge: 'outcome_unknown',
      fault: { class: 'ambiguous_outcome', code: 'outcome_unknown', detail: 'killed' },
    });
    server.start();
    expect(await read).toEqual({ name: 'read' });
    expect([sent, ends]).toEqual([
      ['never@1', 'read@1', 'read@2'],
      [1, 2],
    ]);
  });

  it('written to a closing start go to the next start, at no cost of an attempt', async () => {
    const server = new Server();
    const live = server.start();
    const sent: string[] = [];
    server.reply = async ({ generation }, _method, { name }) => {
      sent.push(`${name}@${generation}`);
      if (generation === 1) throw failing('gone');
      return { name };
    };
    const ends: number[] = [];
    const call = (name: string, contract: ReplayContract) =>
      server.calls.send('tools/call', { name }, { ...WAIT, contract, maxReplays: 0, onEnd: (n) => ends.push(n) });
    const calls = Promise.all([call('never', 'never_replay'), call('read', 'convergent')]);
    await turns(50);
    expect(sent).toEqual(['never@1', 'read@1']);
    server.end(live);
    server.start();
    expect(await calls).toEqual([{ name: 'never' }, { name: 'read' }]);
    expect([sent.slice(2), ends]).toEqual([
      ['never@2', 'read@2'],
      [1, 1],
    ]);
  });

  it('with a pending `onSend` leave after it, through a living start', async () => {
    const server = new Server();
    const live = server.start();
    const sent: string[] = [];
    server.reply = async ({ generation }, _method, { name }) => {
      sent.push(`${name}@${generation}`);
      return { name };
    };
    const words = [deferred<void>(), deferred<void>(), deferred<void>()];
    let asked = 0;
    const onSend = () => words[asked++]?.promise;
    const call = server.calls.send('tools/call', { name: 'put' }, { ...WAIT, onSend });
    await turns();
    expect([asked, sent]).toEqual([1, []]);
    server.end(live);
    server.start();
    await turns();
    expect([asked, sent]).toEqual([2, []]);
    // Belongs to the ended start, so it has no effect.
    words[0]?.resolve();
    await turns();
    expect(sent).toEqual([]);
    words[1]?.resolve();
    expect(await call).toEqual({ name: 'put' });
    expect(sent).toEqual(['put@2']);
    expect(await server.calls.send('tools/call', { name: 'now' }, { ...WAIT, onSend: () => undefined })).toEqual({
      name: 'now',
    });
  });

  it('with a pending `onSend` do not leave if they are cancelled or `onSend` rejects', async () => {
    const server = new Server();
    server.start();
    let sent = 0;
    server.reply = async () => ({ sent: ++sent });
    const word = deferred<void>();
    const { signal, abort } = abortable();
    const call = failed(server.calls.send('tools/call', {}, { ...WAIT, signal, onSend: () => word.promise }));
    abort();
    word.resolve();
    expect(await call).toMatchObject({ failure: 'aborted' });
    const onSend = () => Promise.reject(new Error('the session has ended'));
    expect(await failed(server.calls.send('tools/call', {}, { ...WAIT, onSend }))).toMatchObject({
      failure: 'aborted',
    });
    await turns();
    expect(sent).toBe(0);
  });

  it('with a pending `onSend` at the deadline were never dispatched', async () => {
    const server = new Server();
    server.start();
    let sent = 0;
    server.reply = async () => ({ sent: ++sent });
    const controller = new AbortController();
    const word = deferred<void>();
    const onSend = () => word.promise;
    const call = failed(server.calls.send('tools/call', {}, { ...WAIT, signal: controller.signal, onSend }));
    controller.abort(new DOMException('late', 'TimeoutError'));
    expect(await call).toBeInstanceOf(NotDispatchedError);
    word.resolve();
    await turns();
    expect(sent).toBe(0);
  });

  it('have the contract of their method by default', async () => {
    const server = new Server();
    server.start();
    let n = 0;
    server.reply = async () => {
      n += 1;
      if (n % 2 === 1) throw failing('closed');
      return { n };
    };
    expect(await server.calls.send('resources/read', {}, WAIT)).toEqual({ n: 2 });
    expect(await failed(server.calls.send('tools/call', {}, WAIT))).toMatchObject({ knowledge: 'outcome_unknown' });
    expect(n).toBe(3);
  });

  it('are resent up to the maximum, and then fail with the fault of the loss', async () => {
    const server = new Server();
    server.start();
    let sent = 0;
    server.reply = async () => {
      sent += 1;
      throw failing('closed');
    };
    for (const maxReplays of [0, 1, 3]) {
      sent = 0;
      const error = await failed(server.calls.send('tools/list', {}, { ...WAIT, maxReplays }));
      expect(error).toMatchObject({ fault: { code: 'connection_lost' }, knowledge: 'outcome_unknown' });
      expect(sent).toBe(maxReplays + 1);
    }
    sent = 0;
    const error = await failed(server.calls.send('tools/list', {}, { ...WAIT, maxReplays: 1_000 }));
    expect([sent, (error as CallFailedError).fault.code]).toEqual([11, 'replay_exhausted']);
  });

  it('that three starts ended with are not sent again, and fail with that fault', async () => {
    const server = new Server();
    server.reply = () => new Promise(() => undefined);
    const ends: number[] = [];
    const options = { ...WAIT, maxReplays: 5, onEnd: (n: number) => void ends.push(n) };
    const first = server.start();
    const call = failed(server.calls.send('tools/list', {}, options));
    server.end(first);
    server.end(server.start());
    server.end(server.start());
    expect(await call).toMatchObject({
      name: 'CallFailedError',
      knowledge: 'outcome_unknown',
      message: 'killed',
      fault: { class: 'replay', code: 'replay_exhausted', detail: 'killed', generation: 3 },
    });
    expect(ends).toEqual([3]);
  });

  it('with a closed connection fail with the exit of their start, and end it if no exit follows', async () => {
    const server = new Server();
    let live = server.start();
    server.reply = async ({ client }) => {
      (client as ScriptedClient).gone = true;
      throw failing('closed');
    };
    const lost = failed(server.calls.send('tools/call', {}, WAIT));
    // Let the call notice the closed output before any timer runs.
    for (let i = 0; i < 20; i++) await undefined;
    server.end(live);
    expect(await lost).toMatchObject({ failure: 'closed', fault: { code: 'outcome_unknown', detail: 'killed' } });
    live = server.start();
    const alone = failed(server.calls.send('tools/call', {}, WAIT));
    // A call sent meanwhile does not go to this start.
    await turns();
    const later = server.calls.send('tools/call', {}, WAIT);
    expect(await alone).toMatchObject({ failure: 'closed', knowledge: 'outcome_unknown' });
    expect(server.losses).toEqual(['output_closed']);
    server.reply = async ({ generation }) => ({ generation });
    server.start();
    expect(await later).toEqual({ generation: live.generation + 1 });
  });

  it('never go to a start with a closed output, and wait for the next', async () => {
    const server = new Server();
    const live = server.start();
    (live.client as ScriptedClient).gone = true;
    const call = server.calls.send('tools/call', {}, WAIT);
    await turns();
    server.end(live);
    server.start();
    expect(await call).toEqual({ ok: true });
  });

  it('bound to one start reach no other, whether it ended before or after the dispatch', async () => {
    const server = new Server();
    const first = server.start();
    const sent: string[] = [];
    server.reply = ({ generation }, _method, { name }) => {
      sent.push(`${name}@${generation}`);
      return name === 'hangs' ? new Promise(() => undefined) : Promise.resolve({ ok: true });
    };
    const ask = (name: string, contract: ReplayContract = 'never_replay') =>
      server.calls.send('tasks/get', { name }, { ...WAIT, contract, start: first.generation });
    expect(await ask('there')).toEqual({ ok: true });
    const hangs = failed(ask('hangs', 'convergent'));
    // The output has closed, but the supervisor has not noticed yet.
    (first.client as ScriptedClient).gone = true;
    const waits = failed(ask('waits'));
    await turns();
    server.end(first);
    server.start();
    for (const error of [await waits, await hangs, await failed(ask('late'))]) {
      expect(error).toMatchObject({
        name: 'CallFailedError',
        message: 'the server has restarted, which ended the subject of this request',
        failure: 'closed',
        knowledge: 'outcome_unknown',
      });
    }
    expect(sent).toEqual(['there@1', 'hangs@1']);
    expect(await server.calls.send('tasks/get', { name: 'any' }, WAIT)).toEqual({ ok: true });
  });

  it('lost with an output are not probed on that start', async () => {
    const server = new Server();
    const live = server.start();
    const asked: string[] = [];
    server.reply = async ({ generation, client }, _method, { name }) => {
      asked.push(`${name}@${generation}`);
      if (generation > 1) return { structuredContent: { done: true } };
      (client as ScriptedClient).gone = true;
      throw failing('closed');
    };
    const probe: Probe = { tool: 'look', arguments: {}, effect: { at: '/done', equals: true } };
    const options = { ...WAIT, contract: 'probe_required', probe } as const;
    const call = server.calls.send('tools/call', { name: 'put', arguments: {} }, options);
    await turns();
    expect(asked).toEqual(['put@1']);
    server.end(live);
    server.start();
    expect(await call).toMatchObject({ _meta: { 'waygate/outcome': 'completed_by_probe' } });
    expect(asked).toEqual(['put@1', 'look@2']);
  });

  it('unknown to the server go to its next start, and fail if that does not know them either', async () => {
    const server = new Server();
    server.start();
    server.reply = async ({ generation }) => {
      if (generation % 3 !== 0) throw failing('unsent');
      return { generation };
    };
    const gone = failed(server.calls.send('tools/call', {}, WAIT));
    expect(server.losses).toEqual([]);
    await turns();
    server.start();
    expect(await gone).toMatchObject({
      name: 'NotDispatchedError',
      message: 'explained',
      retryAfterSeconds: 9,
      fault: { code: 'connection_refused' },
    });
    expect(server.losses).toEqual(['session_lost', 'connection_refused']);
    expect(server.reasons).toEqual(['It had to be reconnected.', 'explained']);
    server.start();
    server.start();
    const once = server.calls.send('tools/call', {}, WAIT);
    await turns();
    server.start();
    server.start();
    expect(await once).toEqual({ generation: 6 });
  });

  it('not accepted by a server that does not read are reported as not dispatched', async () => {
    const server = new Server();
    server.start();
    server.reply = () => Promise.reject(failing('busy'));
    const progress: string[] = [];
    const options = { ...WAIT, onProgress: ({ message = '' }) => void progress.push(message) };
    expect(await failed(server.calls.send('tools/call', {}, options))).toMatchObject({
      name: 'NotDispatchedError',
      fault: { code: 'queue_overflow' },
    });
    await turns();
    // The call neither waits for a start nor causes one.
    expect([server.losses, progress, server.waits]).toEqual([[], [], 0]);
  });

  it('report a required sign-in; one overloaded request does not end the session', async () => {
    const server = new Server();
    server.start();
    server.reply = () => Promise.reject(failing('unauthorized', 403));
    const refused = { failure: 'unauthorized', message: 'explained', fault: { code: 'unauthorized' } };
    expect(await failed(server.calls.send('tools/call', {}, WAIT))).toMatchObject({
      ...refused,
      knowledge: 'completed',
    });
    expect([server.remarks, server.losses]).toEqual([['explained'], []]);
    server.reply = () => Promise.reject(failing('unauthorized', 401));
    expect(await failed(server.calls.send('tools/call', {}, WAIT))).toMatchObject(refused);
    await turns();
    expect([server.remarks, server.losses]).toEqual([['explained'], ['connection_refused']]);
  });

  it('clear the note about the server when one succeeds', async () => {
    const server = new Server();
    server.start();
    await server.calls.send('tools/call', {}, WAIT);
    expect(server.remarks).toEqual([undefined]);
  });

  it.each([
    ['DeadlineError', { name: 'CallFailedError', failure: 'timeout', knowledge: 'in_flight' }],
    ['CancelledError', { failure: 'aborted' }],
  ])('end at once when their signal is aborted: %s', async (name, end) => {
    const server = new Server();
    server.start();
    let answer = (_result: Json): void => undefined;
    server.reply = () => new Promise((resolve) => (answer = resolve));
    const controller = new AbortController();
    const call = failed(server.calls.send('tools/call', {}, { ...WAIT, signal: controller.signal }));
    controller.abort(Object.assign(new Error('over'), { name }));
    expect(await call).toMatchObject(end);
    answer({ late: true });
    await turns();
    expect(server.remarks).toEqual([]);
    expect(await failed(server.calls.send('x', {}, { ...WAIT, signal: controller.signal }))).toMatchObject({
      failure: 'aborted',
    });
  });

  it('that time out while waiting for a start were never dispatched', async () => {
    const server = new Server();
    const controller = new AbortController();
    const call = failed(server.calls.send('tools/call', {}, { ...WAIT, signal: controller.signal }));
    controller.abort(Object.assign(new Error('no answer within 1 s'), { name: 'DeadlineError' }));
    expect(await call).toMatchObject({ name: 'NotDispatchedError', fault: { code: 'call_timeout' } });
    let sent = 0;
    server.reply = async () => ({ sent: ++sent });
    server.start();
    await turns();
    expect(sent).toBe(0);
  });

  it('report why a server is unavailable, and keep the unknown outcome of an earlier loss', async () => {
    const server = new Server();
    const live = server.start();
    server.reply = () => new Promise(() => undefined);
    server.down = new NotDispatchedError('it is out', fault('spawn_enoent'), 3);
    const lost = failed(server.calls.send('tools/list', {}, WAIT));
    server.end(live);
    expect(await failed(server.calls.send('tools/call', {}, WAIT))).toBe(server.down);
    expect(await lost).toMatchObject({
      name: 'CallFailedError',
      message: 'it is out',
      fault: { code: 'spawn_enoent' },
      knowledge: 'outcome_unknown',
      retryAfterSeconds: 3,
    });
  });

  it('open the breaker after timeouts, but not after losses or answers', async () => {
    const server = new Server();
    const live = server.start();
    const ends = async (error: Error, times = 6): Promise<unknown> => {
      server.reply = () => Promise.reject(error);
      let last: unknown;
      for (let n = 0; n < times; n++) last = await failed(server.calls.send('tools/call', {}, WAIT));
      return last;
    };
    expect(await ends(failing('closed'))).toMatchObject({ fault: { code: 'outcome_unknown' } });
    expect(await ends(failing('error', -32000))).toMatchObject({ fault: { code: 'upstream_error' } });
    expect(await ends(failing('timeout'), 5)).toMatchObject({ fault: { code: 'outcome_unknown_after_timeout' } });
    expect(await ends(failing('timeout'), 1)).toMatchObject({
      name: 'NotDispatchedError',
      message: 'it failed several calls in a row and is paused for a while',
      fault: { code: 'circuit_open', detail: '' },
      retryAfterSeconds: 30,
    });
    server.end(live);
    server.start();
    server.reply = async () => ({ again: true });
    expect(await server.calls.send('tools/call', {}, WAIT)).toEqual({ again: true });
    expect(await ends(failing('error', 503), 6)).toMatchObject({ fault: { code: 'circuit_open' } });
  });

  it('contain no secret in their faults', async () => {
    const server = new Server();
    server.start();
    server.reply = () => Promise.reject(new UpstreamRequestError('error', 'bad key hunter2', -32000));
    const error = (await failed(server.calls.send('tools/call', {}, WAIT))) as CallFailedError;
    expect([error.fault.detail, error.fault.generation]).toEqual(['bad key ***', 1]);
  });
});

/** Outcome of one dispatch. */
type Fate = 'answered' | 'broken' | 'broken_after' | 'unsent' | 'busy';

interface Plan {
  contract: ReplayContract;
  maxReplays: number;
  fates: readonly Fate[];
}

const PROBE: Probe = { tool: 'look', arguments: { id: { $arg: '/id' } }, effect: { at: '/done', equals: true } };

class Play {
  readonly server = new Server();
  readonly effects = new Map<string, number>();
  readonly losses = new Map<string, number>();
  /** Number of starts that ended with the call. */
  readonly deaths = new Map<string, number>();
  readonly ends = new Map<string, { result?: Json; error?: unknown; dispatches: number }>();
  readonly sent = new Map<string, number>();
  readonly #scheduler: fc.Scheduler;
  readonly #plans: ReadonlyMap<string, Plan>;
  /** Generation that has each call. */
  readonly #holders = new Map<string, number>();

  constructor(scheduler: fc.Scheduler, plans: ReadonlyMap<string, Plan>) {
    this.#scheduler = scheduler;
    this.#plans = plans;
    this.server.reply = (live, _method, { name, arguments: args }) =>
      this.#serve(live, name as string, (args as { id: string }).id);
    this.server.onEnd = ({ generation }) => {
      for (const [id, holder] of this.#holders) if (holder === generation) bump(this.deaths, id);
    };
  }

  begin(id: string): void {
    const { contract, maxReplays } = this.#plans.get(id) as Plan;
    let dispatches = 0;
    const options = { ...WAIT, contract, maxReplays, probe: PROBE, onEnd: (n: number) => (dispatches = n) };
    this.server.calls.send('tools/call', { name: 'put', arguments: { id } }, options).then(
      (result) => this.#end(id, { result, dispatches }),
      (error: unknown) => this.#end(id, { error, dispatches }),
    );
  }

  kill(): void {
    const { live } = this.server;
    if (live) this.server.end(live);
  }

  #end(id: string, end: { result?: Json; error?: unknown; dispatches: number }): void {
    if (this.ends.has(id)) throw new Error(`${id} has ended twice`);
    this.ends.set(id, end);
  }

  async #serve(live: Live, tool: string, id: string): Promise<Json> {
    const alive = async (label: string): Promise<void> => {
      await this.#scheduler.schedule(Promise.resolve(), label);
      if (!live.client.closed) return;
      if (tool === 'put') bump(this.losses, id);
      throw failing('closed');
    };
    if (tool === 'look') {
      await alive(`${id} looked at`);
      return { structuredContent: { done: this.effects.has(id) } };
    }
    const fate = this.#plans.get(id)?.fates[bump(this.sent, id) - 1] ?? 'answered';
    this.#holders.set(id, live.generation);
    await alive(`${id} read`);
    if (fate === 'unsent' || fate === 'busy') {
      this.#holders.delete(id);
      throw failing(fate);
    }
    if (fate !== 'broken') bump(this.effects, id);
    await alive(`${id} answered`);
    this.#holders.delete(id);
    if (fate === 'answered') return { id };
    bump(this.losses, id);
    throw failing('closed');
  }
}

function bump(counts: Map<string, number>, id: string): number {
  const count = (counts.get(id) ?? 0) + 1;
  counts.set(id, count);
  return count;
}

async function play(scheduler: fc.Scheduler, plans: readonly Plan[], kills: number): Promise<Play> {
  const world = new Play(scheduler, new Map(plans.map((plan, i) => [`c${i}`, plan])));
  const at = (label: string, act: () => void): void => {
    void scheduler.schedule(Promise.resolve(), label).then(act);
  };
  at('first start', () => world.server.start());
  for (const i of plans.keys()) at(`begin c${i}`, () => world.begin(`c${i}`));
  for (let k = 0; k < kills; k++) {
    at(`kill ${k}`, () => world.kill());
    at(`start ${k}`, () => world.server.start());
  }
  // Calls that were handed back or lost wait for the next start.
  for (let round = 0; round < 12; round++) {
    await scheduler.waitIdle();
    await turns(2);
    if (world.ends.size === plans.length) break;
    world.server.start();
  }
  return world;
}

const fate = fc.constantFrom<Fate>('answered', 'answered', 'broken', 'broken_after', 'unsent', 'busy');
const anyPlan = fc.record<Plan>({
  contract: fc.constantFrom<ReplayContract>('convergent', 'probe_required', 'never_replay'),
  maxReplays: fc.nat({ max: 3 }),
  fates: fc.array(fate, { maxLength: 4 }),
});

describe('any order of starts, ends, answers and losses', () => {
  it('ends each call once, executes it as often as its contract allows, and reports the truth', () =>
    fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(anyPlan, { minLength: 1, maxLength: 5 }),
        fc.nat({ max: 4 }),
        async (scheduler, plans, kills) => {
          const world = await play(scheduler, plans, kills);
          for (const [i, { contract, maxReplays, fates }] of plans.entries()) {
            const id = `c${i}`;
            const end = world.ends.get(id);
            const [effects, losses] = [world.effects.get(id) ?? 0, world.losses.get(id) ?? 0];
            const deaths = world.deaths.get(id) ?? 0;
            if (!end) throw new Error(`${id} has no end`);
            const { result, error, dispatches } = end;
            if (contract !== 'convergent') expect(effects).toBeLessThanOrEqual(1);
            if (contract === 'never_replay') expect(dispatches).toBeLessThanOrEqual(1);
            expect(dispatches).toBeLessThanOrEqual(maxReplays + 1);
            expect(world.sent.get(id) ?? 0).toBeGreaterThanOrEqual(dispatches);
            if (result) expect(effects).toBeGreaterThanOrEqual(1);
            else if (error instanceof NotDispatchedError) expect([effects, losses]).toEqual([0, 0]);
            else {
              expect(error).toBeInstanceOf(CallFailedError);
              const { knowledge, fault: reported } = error as CallFailedError;
              expect([knowledge, losses > 0]).toEqual(['outcome_unknown', true]);
              if (contract === 'never_replay') expect(reported.class).toBe('ambiguous_outcome');
              const endsAll = deaths === 3 || (deaths === 2 && dispatches > maxReplays);
              if (contract === 'convergent') expect(reported.code === 'replay_exhausted').toBe(endsAll);
            }
            expect(deaths).toBeLessThanOrEqual(3);
            const isReturned = fates.some((one) => one === 'unsent' || one === 'busy');
            const mayGoOn = !isReturned && losses <= maxReplays && deaths < 3;
            if (contract === 'convergent' && mayGoOn) expect(result).toEqual({ id });
          }
        },
      ),
      { seed: 11, numRuns: 400 },
    ));
});
