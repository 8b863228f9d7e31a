import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Fault, faultOf } from '../../src/errors/fault.ts';
import { faultError } from '../../src/errors/faultError.ts';
import { CallJournal } from '../../src/replay/callJournal.ts';
import type { Terminal } from '../../src/replay/journalCall.ts';
import type { ReplayContract } from '../../src/replay/replay.ts';
import { Supervisor } from '../../src/supervision/supervisor.ts';
import { until } from '../support/hostProcess.ts';
import { linesOf } from '../support/lines.ts';
import { PseudoRandom } from '../support/pseudoRandom.ts';

/** Runs journal and supervisor together, as the host and the upstream room do, over a server that is killed often. */
const KILLS = 40;
const IN_FLIGHT = 10;
const CONTRACTS: readonly ReplayContract[] = ['convergent', 'probe_required', 'never_replay'];

interface Work {
  actsAfter: number;
  answersAfter: number;
}

let folder: string;
let log: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waygate-kernel-'));
  log = join(folder, 'effects');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

class Kernel {
  readonly ends = new Map<string, Terminal<{ id: string; pid: number }>[]>();
  readonly children: ChildProcess[] = [];
  readonly journal = new CallJournal<Work, { id: string; pid: number }>(
    {
      dispatch: ({ id, payload }) => {
        const child = this.children.at(-1);
        if (!child?.stdin?.writable) return false;
        child.stdin.write(`${JSON.stringify({ id, ...payload })}\n`);
        return true;
      },
      probe: ({ id }, generation) =>
        void setImmediate(() => {
          this.journal.resolveProbe(generation, id, linesOf(log).includes(id) ? 'already_completed' : 'safe_to_replay');
        }),
      settle: ({ id }, end) => void this.ends.set(id, [...(this.ends.get(id) ?? []), end]),
    },
    { maxCalls: 1_000, maxBytes: 1_000, maxWaiting: 1_000, maxReplays: KILLS, maxProbes: KILLS, retryAfter: 1 },
  );
  readonly supervisor = new Supervisor<ChildProcess>({
    start: async ({ generation }) => {
      const child = spawn(process.execPath, ['test/fixtures/effectServer.mjs', log], {
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      this.children.push(child);
      child.stdin.on('error', () => undefined);
      createInterface({ input: child.stdout }).on('line', (line) => {
        const reply = JSON.parse(line) as { id: string; pid: number };
        this.journal.reply(generation, reply.id, reply);
      });
      await once(child, 'spawn');
      // `close` comes after all output of the process has been read.
      const exited = once(child, 'close').then(([code, signal]) =>
        faultOf('killed', { generation, detail: String(signal ?? code) }, (text) => text),
      );
      return { handle: child, exited };
    },
    end: async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGKILL');
      await once(child, 'close');
    },
    faultOf: (error, generation) => faultOf('spawn_failed', { generation, detail: String(error) }, (text) => text),
    onReady: (_, generation) => this.journal.open(generation),
    onLost: (generation, fault: Fault) => this.journal.lose(generation, fault),
    clock: {
      now: () => performance.now(),
      random: Math.random,
      after: (ms, run) => {
        const timer = setTimeout(run, ms);
        return () => clearTimeout(timer);
      },
    },
    // The kills are deliberate: disable the crash loop.
    limits: {
      baseDelayMs: 0,
      maxDelayMs: 0,
      crashes: Number.POSITIVE_INFINITY,
      windowMs: 1,
      probeIntervalMs: 1,
      stableMs: 1,
    },
  });
}

describe('the replay kernel over real processes', () => {
  it(`keeps every contract through ${KILLS} kills with ${IN_FLIGHT} calls in flight`, {
    timeout: 30_000 + KILLS * 3_000,
  }, async () => {
    // A fixed seed: the same kills at about the same times in every run.
    const random = new PseudoRandom(20_261_118);
    const kernel = new Kernel();
    // If the test fails, the supervisor must not go on restarting the child.
    onTestFinished(() => kernel.supervisor.dispose());
    const calls = new Map<string, ReplayContract>();
    for (let kill = 0; kill < KILLS; kill++) {
      const child = await kernel.supervisor.ready();
      while (kernel.journal.size < IN_FLIGHT) {
        const id = `c${calls.size}`;
        const contract = CONTRACTS[calls.size % CONTRACTS.length] as ReplayContract;
        calls.set(id, contract);
        const payload = { actsAfter: random.below(30), answersAfter: random.below(30) };
        expect(kernel.journal.admit({ id, contract, payload, bytes: 1, canProbe: true })).toEqual({ admitted: true });
      }
      // Long enough for most servers to begin their calls, but not to finish them.
      await sleep(30 + random.below(40));
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      // The supervisor reports the loss when the pipes are closed.
      await until('the loss', () => kernel.supervisor.handle !== child);
    }
    await until('the end of every call', () => kernel.journal.size === 0);
    await kernel.supervisor.dispose();

    const effects = linesOf(log);
    const ended = { reply: 0, completed_by_probe: 0, fault: 0 };
    for (const [id, contract] of calls) {
      const [end, ...more] = kernel.ends.get(id) ?? [];
      expect([id, end === undefined, more]).toEqual([id, false, []]);
      if (!end) continue;
      ended[end.kind] += 1;
      const count = effects.filter((line) => line === id).length;
      if (contract !== 'convergent') expect([id, count <= 1]).toEqual([id, true]);
      if (end.kind === 'reply') expect([end.reply.id, count >= 1]).toEqual([id, true]);
      if (end.kind === 'completed_by_probe') expect([contract, count]).toEqual(['probe_required', 1]);
      if (contract === 'convergent') expect(end.kind).toBe('reply');
      if (end.kind === 'fault') {
        const error = faultError(end.fault, { subject: 'server', ...end });
        expect([contract, error.retryable, error.details?.outcome]).toEqual(['never_replay', false, 'unknown']);
      }
    }
    // The kills had an effect: calls were lost and repeated.
    expect(ended.fault).toBeGreaterThan(0);
    expect(kernel.journal.counts.replayed).toBeGreaterThan(0);
    expect(kernel.supervisor.health).toMatchObject({ restart_count: KILLS });
    const alive = kernel.children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    expect(alive).toEqual([]);
  });
});
