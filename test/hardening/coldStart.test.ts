import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { readLastWorker } from '../../src/host/attach/lastWorker.ts';
import { heartbeat } from '../../src/link/rendezvous.ts';
import { rendezvous, stateFolder, status, waygate } from '../support/census.ts';
import { HostProcess, isAlive, pidsIn, until } from '../support/hostProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

const COUNT = Number(process.env.WAYGATE_COLD_SERVERS ?? 20);
const BUSY_MS = process.env.WAYGATE_COLD_MS ?? '100';
/** Limit of an answer of the worker, on a machine with nothing else to do; longer in `npm test`, which runs much. */
const ANSWER_MS = process.env.WAYGATE_COLD_SERVERS === undefined ? 15_000 : 2_000;

/** Returns how many of the spans `(…)` overlap at most. */
function overlap(spans: string): number {
  let open = 0;
  return Math.max(...Array.from(spans, (mark) => (mark === '(' ? ++open : open--)));
}

it(`${COUNT} servers that were never started fail no browse, replace no worker and leave it time to answer`, async () => {
  const workspace = testWorkspace();
  const spans = workspace.write('spans.txt', '');
  const names = Array.from({ length: COUNT }, (_, i) => `s${i}`);
  const cold = servers.fixture('--busy-start', BUSY_MS, '--spans', spans, '--tools', '40');
  // The usual time, because a busy worker must not leave before its first client is attached.
  delete workspace.env.WAYGATE_LINGER_MS;
  workspace.configure(Object.fromEntries(names.map((name) => [name, cold])));
  const host = await HostProcess.connect(workspace);
  const began = performance.now();
  const last = host.call('tool_execute', { tool_id: `${names.at(-1)}:echo`, args: { text: 'hi' } });
  // A host with a call in flight takes a silent worker without beats for a hung one.
  await until('the worker', () => rendezvous(workspace));
  const beats = until('a beat of the worker', heartbeat(stateFolder(workspace)));
  const answers: number[] = [];
  let isComplete = false;
  const asking = (async () => {
    while (!isComplete) {
      const asked = performance.now();
      await status(workspace);
      answers.push(performance.now() - asked);
      await sleep(100);
    }
  })();
  const command = waygate(workspace, ['status']).then(({ code }) => ({ code, ms: performance.now() - began }));
  const browses: number[] = [];
  while (!isComplete) {
    const asked = performance.now();
    const { isError, structured } = await host.call('tool_browse', { query: 'pagerduty incident', render: 'json' });
    browses.push(performance.now() - asked);
    expect(isError).toBe(false);
    await sleep(50);
    isComplete = structured?.complete === true;
    if (browses.length === 1) expect((await last).text).toContain('hi');
  }
  const seconds = (performance.now() - began) / 1_000;
  await asking;
  await beats;
  const { code, ms: commandMs } = await command;
  expect(code).toBe(0);
  expect(
    (await status(workspace)).servers.filter(({ state, toolCount }) => state === 'ready' && toolCount === 40),
  ).toHaveLength(COUNT);
  const { generation, restarts } = readLastWorker(stateFolder(workspace));
  expect({ generation, restarts }).toEqual({ generation: 1, restarts: 0 });
  const seen = readFileSync(spans, 'utf8');
  expect(seen).toHaveLength(2 * COUNT);
  expect(overlap(seen)).toBeLessThanOrEqual(2 * availableParallelism());
  const figures = {
    seconds,
    longestAnswerMs: Math.max(...answers),
    answers: answers.length,
    commandMs,
    firstBrowseMs: browses[0],
    overlap: overlap(seen),
  };
  expect(Math.max(...answers, commandMs), JSON.stringify(figures)).toBeLessThan(ANSWER_MS);
  console.log(`cold start of ${COUNT} servers: ${JSON.stringify(figures)}`);
});

it(`${COUNT} servers that are starting for the first time end with waygate stop`, async () => {
  const workspace = testWorkspace();
  const [spans, pids] = [workspace.write('spans.txt', ''), workspace.write('pids.txt', '')];
  const cold = servers.fixture('--busy-start', BUSY_MS, '--spans', spans, '--pid-file', pids);
  delete workspace.env.WAYGATE_LINGER_MS;
  workspace.configure(Object.fromEntries(Array.from({ length: COUNT }, (_, i) => [`s${i}`, cold])));
  const host = await HostProcess.connect(workspace);
  await until('a start', () => readFileSync(spans, 'utf8').includes('('));
  const { code, stdout } = await waygate(workspace, ['stop']);
  expect([code, stdout]).toEqual([0, expect.stringContaining('Stopped the gateway')]);
  await until('the end of the servers', () => !pidsIn(pids).some(isAlive));
  host.end();
  await host.exited;
});
