import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rendezvous, workersOf } from '../support/census.ts';
import { readEffects, violationsOf } from '../support/historyChecker.ts';
import { HostProcess, isAliveWith, pidsIn, until } from '../support/hostProcess.ts';
import { Recorder } from '../support/killRun.ts';
import { PseudoRandom } from '../support/pseudoRandom.ts';
import { temporaryFolder, testWorkspace } from '../support/workspace.ts';

/**
 * Runs an hour at 50 calls a second over five servers and kills one of them every ten seconds. WAYGATE_SOAK_MINUTES
 * (60), WAYGATE_SOAK_RATE (50), WAYGATE_SOAK_KILL_SECONDS (10) and WAYGATE_SOAK_SEED change the run.
 *
 * RSS is measured right after a garbage collection. V8 keeps garbage until there is about three times as much of it
 * as of live data, so RSS between two collections shows when the last one was and not whether anything leaks. The
 * report also has the highest RSS.
 */
const MINUTES = Number(process.env.WAYGATE_SOAK_MINUTES ?? 60);
const RATE = Number(process.env.WAYGATE_SOAK_RATE ?? 50);
const KILL_SECONDS = Number(process.env.WAYGATE_SOAK_KILL_SECONDS ?? 10);
const SEED = Number(process.env.WAYGATE_SOAK_SEED ?? Date.now() % 2 ** 31);
const SERVERS = 5;
/** Share of the run without samples: memory for things used the first time is not a leak. */
const WARM_UP = 1 / 6;
/** Number of full garbage collections: once a minute in an hour. */
const COLLECTIONS = 60;

interface Memory {
  rss: number;
  heapUsed: number;
}

interface Sample {
  at: number;
  /** Memory after the last full garbage collection. */
  collected: Memory;
  rss: number;
  fds: number;
  timers: number;
  loopP99Ms: number;
}

function sampleOf(pid: number, folder: string, at: number): Sample | undefined {
  try {
    const { rss, collected, resources, loopP99Ms } = JSON.parse(readFileSync(join(folder, `${pid}.json`), 'utf8')) as {
      rss: number;
      collected: Memory;
      resources: Record<string, number>;
      loopP99Ms: number;
    };
    return {
      at,
      rss,
      collected,
      fds: readdirSync(`/proc/${pid}/fd`).length,
      timers: resources.Timeout ?? 0,
      loopP99Ms,
    };
  } catch {
    // The process has not written its file yet.
    return undefined;
  }
}

/** Returns the growth over the whole time relative to the mean, by the least-squares line through the samples. */
function growth(samples: readonly Sample[], value: (sample: Sample) => number): number {
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [at, level] = [mean((sample) => sample.at), mean(value)];
  const covariance = mean((sample) => (sample.at - at) * (value(sample) - level));
  const variance = mean((sample) => (sample.at - at) ** 2);
  const span = (samples.at(-1) as Sample).at - (samples[0] as Sample).at;
  return (covariance / variance) * (span / level);
}

const collectedRss = ({ collected }: Sample): number => collected.rss;

function report(name: string, samples: readonly Sample[]): string {
  const [first, last] = [samples[0] as Sample, samples.at(-1) as Sample];
  const most = (of: (sample: Sample) => number): number => Math.max(...samples.map(of));
  const change = (of: (sample: Sample) => number): string => `${megabytes(of(first))} -> ${megabytes(of(last))} MB`;
  return [
    `${name}: RSS ${change(collectedRss)} (line: ${(growth(samples, collectedRss) * 100).toFixed(1)} %)`,
    `at most ${megabytes(most(({ rss }) => rss))} MB`,
    `live heap ${change(({ collected }) => collected.heapUsed)}`,
    `fds ${first.fds} -> ${last.fds}, timers ${first.timers} -> ${last.timers}`,
    `loop p99 at worst ${most(({ loopP99Ms }) => loopP99Ms).toFixed(1)} ms`,
  ].join(', ');
}

function megabytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}

describe(`${MINUTES} minutes at ${RATE} calls a second, a kill every ${KILL_SECONDS} s (WAYGATE_SOAK_SEED=${SEED})`, () => {
  it('lose no call, repeat no call and leave no process', { timeout: MINUTES * 60_000 + 300_000 }, async () => {
    const workspace = testWorkspace();
    // The kills are too frequent for the crash loop limit, which other tests cover.
    workspace.env.WAYGATE_RESTART_LIMITS = JSON.stringify({ crashes: 1_000_000, maxDelayMs: 0 });
    const probes = temporaryFolder('waygate-probe-');
    const effects = workspace.write('effects.jsonl', '');
    const isOurs = isAliveWith(effects);
    const names = Array.from({ length: SERVERS }, (_, i) => `server${i}`);
    const pidFiles = names.map((name) => workspace.write(`${name}.txt`, ''));
    const script = JSON.stringify({ steps: [{ on: 'tools/call', every: 2, do: [{ delay: 20 }, 'reply'] }] });
    const program = resolve('test/fixtures/faultServer.mjs');
    const args = (pids: string): string[] => [program, '--effects', effects, '--pid-file', pids, '--script', script];
    workspace.write(
      '.vscode/waygate.json',
      JSON.stringify({
        replay: { servers: { server0: 'convergent', server1: 'convergent' } },
        retry: { maxAttempts: 10, baseDelay: 0.01, maxDelay: 0.2 },
        servers: Object.fromEntries(
          names.map((name, i) => [name, { command: process.execPath, args: args(pidFiles[i] as string) }]),
        ),
      }),
    );
    workspace.approve();
    const host = new HostProcess(workspace, [], {
      NODE_OPTIONS: `--require ${resolve('test/fixtures/resourceProbe.cjs')}`,
      WAYGATE_PROBE_FOLDER: probes,
      WAYGATE_PROBE_COLLECT_MS: String((MINUTES * 60_000) / COLLECTIONS),
    });
    await host.initialize();
    for (const name of names) await host.toolId(`/${name}/act`);

    const recorder = new Recorder(host);
    const random = new PseudoRandom(SEED);
    const worker = rendezvous(workspace)?.pid as number;
    const samples = { host: [] as Sample[], worker: [] as Sample[] };
    const latencies: number[] = [];
    const open = new Set<Promise<void>>();
    let kills = 0;
    const started = performance.now();
    const elapsed = (): number => performance.now() - started;
    const total = MINUTES * 60_000;
    for (let n = 0; elapsed() < total; n++) {
      const name = names[n % SERVERS] as string;
      const asked = performance.now();
      const call = recorder.act(name, n % SERVERS < 2 ? 'convergent' : 'never_replay').then(() => {
        latencies.push(performance.now() - asked);
        open.delete(call);
      });
      open.add(call);
      // Kill the servers in turn, including those whose calls must not be repeated.
      const isDue = elapsed() > (kills + 0.5) * KILL_SECONDS * 1_000;
      if (isDue && n % SERVERS === kills % SERVERS) {
        kills += 1;
        // At a random moment during the call.
        const victim = pidFiles[n % SERVERS] as string;
        setTimeout(() => {
          const pid = pidsIn(victim).at(-1);
          if (pid !== undefined && isOurs(pid)) process.kill(pid, 'SIGKILL');
        }, random.below(20));
      }
      if (n % (RATE * 2) === 0 && elapsed() > total * WARM_UP) {
        for (const [who, pid] of [
          ['host', host.child.pid as number],
          ['worker', worker],
        ] as const) {
          const sample = sampleOf(pid, probes, elapsed());
          if (sample) samples[who].push(sample);
        }
      }
      const next = ((n + 1) * 1_000) / RATE - elapsed();
      if (next > 0) await new Promise((done) => setTimeout(done, next));
    }
    await Promise.all(open);

    const sorted = latencies.sort((a, b) => a - b);
    const at = (share: number): string => (sorted[Math.floor(sorted.length * share)] as number).toFixed(1);
    console.log(
      [
        `calls ${recorder.calls}, kills ${kills}, outcomes ${JSON.stringify(recorder.tally)}`,
        `latency p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, worst ${sorted.at(-1)?.toFixed(1)} ms`,
        report('host', samples.host),
        report('worker', samples.worker),
      ].join('\n'),
    );
    expect(violationsOf(recorder.history, readEffects(effects))).toEqual([]);
    // Only servers were killed, so the worker is still the same.
    expect(rendezvous(workspace)?.pid).toBe(worker);
    // In a short run code is still being compiled and buffers still grow. The target applies to an hour.
    const allowed = MINUTES >= 30 ? 0.05 : 0.25;
    for (const who of [samples.host, samples.worker]) {
      expect(growth(who, collectedRss)).toBeLessThan(allowed);
      const [first, last] = [who[0] as Sample, who.at(-1) as Sample];
      // One server may just be starting. A leak of one descriptor per kill would exceed this.
      expect(last.fds - first.fds).toBeLessThanOrEqual(6);
      expect(last.timers - first.timers).toBeLessThanOrEqual(RATE);
    }
    host.end();
    expect(await host.exited).toBe(0);
    await until('the last worker to exit', async () => (await workersOf(workspace)).length === 0);
    expect(pidFiles.flatMap(pidsIn).filter(isOurs)).toEqual([]);
  });
});
