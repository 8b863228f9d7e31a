import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rendezvous, workersOf } from '../support/census.ts';
import { readEffects, violationsOf } from '../support/historyChecker.ts';
import { HostProcess, isAliveWith, pidsIn, until } from '../support/hostProcess.ts';
import { Recorder } from '../support/killRun.ts';
import { PseudoRandom } from '../support/pseudoRandom.ts';
import { testWorkspace } from '../support/workspace.ts';

/**
 * Kills with ten calls in flight each, checked against the call history and the servers' effect logs (O3.7).
 * WAYGATE_KILLS (40 here, 1,000 in `npm run test:full`) and WAYGATE_KILL_SEED prolong and repeat a run.
 */
const KILLS = Number(process.env.WAYGATE_KILLS ?? 40);
const SEED = Number(process.env.WAYGATE_KILL_SEED ?? Date.now() % 2 ** 31);
const IN_FLIGHT = 10;
/** Share of server kills. Killing a worker ends its servers too, so most kills hit a server. */
const UPSTREAM_KILLS = Math.ceil(KILLS * 0.8);

function faultServer(effects: string, pids: string, script: object) {
  const args = ['--effects', effects, '--pid-file', pids, '--script', JSON.stringify(script)];
  return { command: process.execPath, args: [resolve('test/fixtures/faultServer.mjs'), ...args] };
}

/** Longest wait before a kill, about as long as a restart takes: kills hit starting servers too. */
const LONGEST_WAIT_MS = 80;

/** Script with slow and fast calls: a kill hits calls before, during and after their effect. */
const SCRIPT = {
  steps: [3, 5, 8, 11].map((every, i) => ({ on: 'tools/call', every, do: [{ delay: 2 + 4 * i }, 'reply'] })),
};

async function open() {
  const workspace = testWorkspace();
  // The kills are too frequent for the crash loop limit, which other tests cover.
  workspace.env.WAYGATE_RESTART_LIMITS = JSON.stringify({ crashes: 1_000_000, maxDelayMs: 0 });
  const effects = workspace.write('effects.jsonl', '');
  const pids = { once: workspace.write('once.txt', ''), often: workspace.write('often.txt', '') };
  workspace.write(
    '.vscode/waygate.json',
    JSON.stringify({
      replay: { servers: { often: 'convergent' } },
      retry: { maxAttempts: 10, baseDelay: 0.01, maxDelay: 0.2 },
      servers: {
        once: faultServer(effects, pids.once, SCRIPT),
        often: faultServer(effects, pids.often, SCRIPT),
      },
    }),
  );
  workspace.approve();
  const host = await HostProcess.connect(workspace);
  await host.toolId('/once/act');
  await host.toolId('/often/act');
  const latest = (file: string): number | undefined => pidsIn(file).at(-1);
  const all = (): number[] => Object.values(pids).flatMap(pidsIn);
  const isOurs = isAliveWith(workspace.folder);
  return { workspace, host, recorder: new Recorder(host), effects, pids, latest, all, isOurs };
}

type Run = Awaited<ReturnType<typeof open>>;

/** Makes ten calls, half of each kind, and kills the victim at a random moment. Returns whether it was running. */
async function round(
  { recorder, isOurs }: Run,
  random: PseudoRandom,
  victim: () => number | undefined,
): Promise<boolean> {
  const calls = Array.from({ length: IN_FLIGHT }, (_, i) =>
    i % 2 === 0 ? recorder.act('once', 'never_replay') : recorder.act('often', 'convergent'),
  );
  if (random.below(4) === 0) recorder.actAndCancel('once', random.below(20));
  await new Promise((done) => setTimeout(done, random.next() * LONGEST_WAIT_MS));
  const pid = victim();
  const hits = pid !== undefined && isOurs(pid);
  if (hits) process.kill(pid, 'SIGKILL');
  await Promise.all(calls);
  return hits;
}

async function end({ host, workspace, all, isOurs }: Run): Promise<void> {
  const ids = host.lines.flatMap((line) => (JSON.parse(line) as { id?: unknown }).id ?? []);
  expect(new Set(ids).size).toBe(ids.length);
  host.end();
  expect(await host.exited).toBe(0);
  await until('the last worker to exit', async () => (await workersOf(workspace)).length === 0);
  expect(all().filter(isOurs)).toEqual([]);
}

describe(`${KILLS} kills with ${IN_FLIGHT} calls in flight each (WAYGATE_KILL_SEED=${SEED})`, () => {
  it('of servers lose no call that may be repeated and run no other call twice', {
    timeout: 120_000 + UPSTREAM_KILLS * 2_000,
  }, async () => {
    const run = await open();
    const random = new PseudoRandom(SEED);
    for (let kills = 0; kills < UPSTREAM_KILLS; ) {
      const server = random.below(2) === 0 ? run.pids.once : run.pids.often;
      if (await round(run, random, () => run.latest(server))) kills += 1;
    }
    expect(violationsOf(run.recorder.history, readEffects(run.effects))).toEqual([]);
    // Some kills hit calls in flight.
    const { ok = 0, unknown = 0 } = run.recorder.tally;
    expect(ok).toBeGreaterThan(UPSTREAM_KILLS * 4);
    expect(unknown).toBeGreaterThan(0);
    console.log(
      `server kills: ${UPSTREAM_KILLS}, calls ${run.recorder.calls}, outcomes ${JSON.stringify(run.recorder.tally)}`,
    );
    await end(run);
  });

  it('of the worker keep the session, lose no call that may be repeated and run no other call twice', {
    timeout: 120_000 + (KILLS - UPSTREAM_KILLS) * 5_000,
  }, async () => {
    const run = await open();
    const random = new PseudoRandom(SEED + 1);
    for (let kills = 0; kills < KILLS - UPSTREAM_KILLS; ) {
      if (await round(run, random, () => rendezvous(run.workspace)?.pid)) kills += 1;
      // Wait for the next worker and its tools.
      await run.host.toolId('/once/act');
    }
    expect(violationsOf(run.recorder.history, readEffects(run.effects))).toEqual([]);
    console.log(
      `worker kills: ${KILLS - UPSTREAM_KILLS}, calls ${run.recorder.calls}, outcomes ${JSON.stringify(run.recorder.tally)}`,
    );
    await end(run);
  });
});
