import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { HostProcess } from '../support/hostProcess.ts';
import { until } from '../support/hostProcess.ts';
import { type ModelledServer, PinWorld, TOOLS, type Tool, type Versions, Violation } from '../support/pinWorld.ts';
import { PseudoRandom } from '../support/pseudoRandom.ts';

/**
 * Random steps against real gateways and servers, checked against the versions that the user accepted (T2.9).
 * WAYGATE_PIN_STEPS (60 here, 10,000 in `npm run test:full`) and WAYGATE_PIN_SEED prolong and repeat a run.
 */
const STEPS = Number(process.env.WAYGATE_PIN_STEPS ?? 60);
const SEED = Number(process.env.WAYGATE_PIN_SEED ?? Date.now() % 2 ** 31);
const VERSIONS = 3;
/** Steps before a violation that its message shows. */
const TRACED = 15;
/** Longest wait before a kill under calls, so that kills hit calls and starts. */
const LONGEST_WAIT_MS = 60;

interface Place {
  world: PinWorld;
  server: ModelledServer;
  tool: Tool;
  random: PseudoRandom;
}

/** Throws if a tool ran in a version that the user has not accepted. */
function checkRuns({ servers }: PinWorld): void {
  for (const server of servers)
    for (const { tool, version } of server.newRuns())
      if (!server.model.mayRun(tool, version)) throw new Violation(`${server.name} ran ${tool} in version ${version}`);
}

async function run(host: HostProcess, server: ModelledServer, tool: Tool): Promise<{ ok: boolean; text: string }> {
  const { isError, text } = await host.call('tool_execute', { tool_id: `${server.name}:${tool}`, args: {} });
  return { ok: !isError, text };
}

/** Calls a tool and checks the answer. */
async function call({ world, server, tool, random }: Place): Promise<void> {
  const host = random.pick(world.hosts);
  let answer = await run(host, server, tool);
  const { model, name } = server;
  // The kept list may be that of a process that has ended, or that another worker is replacing. A list decides.
  if (!answer.ok && model.mustRun(tool))
    answer = await until(`a list of ${name} with ${tool}`, async () => {
      await world.refresh();
      const again = await run(host, server, tool);
      if (again.ok) Object.assign(model, { stale: false, listedBy: world.worker });
      return again.ok && again;
    });
  // A process that started before the last change still runs the accepted version.
  const ranBefore = answer.ok && model.stale && model.mayRun(tool, model.accepted[tool]);
  if (answer.ok !== model.mustRun(tool) && !ranBefore)
    throw new Violation(`${name}:${tool} was ${answer.ok ? 'run' : 'refused'}: ${answer.text}`);
}

/**
 * Checks what a browse shows. Another worker may have stored a decision during a rollout, or two workers may have
 * started: a worker follows within a second.
 */
async function browse({ world, server: { model, name }, random }: Place): Promise<void> {
  const host = random.pick(world.hosts);
  let seen = '';
  const isRight = async () => {
    const { structured, text } = await host.call('tool_browse', { path: `/${name}`, render: 'json' });
    const cards = (structured?.cards ?? []) as { kind: string; id: string }[];
    const names = cards.filter(({ kind }) => kind === 'tool').map(({ id }) => id.replace(/^.*:|#.*$/g, ''));
    seen = names.join(', ') || text;
    const unseen = names.filter((tool) => !TOOLS.includes(tool as Tool));
    if (unseen.length > 0) throw new Violation(`/${name} shows ${unseen.join(', ')}`);
    // A stale list shows what a call then refuses, but nothing that the user blocked.
    return model.stale || model.listedBy !== world.worker
      ? !names.some((tool) => model.quarantined || model.blocked.has(tool as Tool))
      : names.sort().join() === model.offered.join();
  };
  await until(`the right tools at /${name}, ${model.offered.join(', ')}`, isRight).catch((error: Error) => {
    throw new Violation(`${error.message} Seen last: ${seen}. The log of the worker:\n${world.log}`);
  });
}

/** Versions of which one or all differ from the present ones; 0 for a tool that is no longer listed. */
function otherVersions(random: PseudoRandom, { listed, accepted }: { listed: Versions; accepted: Versions }): Versions {
  if (random.below(4) === 0) return { ...accepted };
  return {
    ...listed,
    [random.pick(TOOLS)]: random.below(VERSIONS + 1),
    [random.pick(TOOLS)]: random.below(VERSIONS + 1),
  };
}

/** Changes a running server, which announces it. */
async function announce({ world, server, random }: Place): Promise<void> {
  server.change(otherVersions(random, server.model));
  const pid = server.signal('SIGUSR2');
  if (pid === undefined) return;
  // The user sees next the list of the server, unless the signal has ended a process that was starting.
  let listedBy: number | undefined;
  await until('the announced list', async () => {
    const seen = await reviewed(world, server);
    listedBy = seen.worker;
    return !server.isOurs(pid) || seen.unlike.length === 0;
  });
  Object.assign(server.model, { stale: !server.isOurs(pid), listedBy });
}

/**
 * Returns the tools whose state for the user does not follow from the present versions, and the worker that says so: the
 * one before, while another takes over.
 */
async function reviewed(world: PinWorld, { name, model }: ModelledServer): Promise<{ unlike: Tool[]; worker: number }> {
  return world.ask(async (control) => {
    const [review] = await control.request('trust', { server: name });
    const { worker } = await control.request('status', {});
    const unlike = TOOLS.filter((tool) => {
      const listed = model.listed[tool];
      const item = review?.items.find(({ key }) => key === `tools:${tool}`);
      if (item) return versionIn(item.after) !== listed;
      return listed === 0 ? model.accepted[tool] !== 0 : listed !== model.accepted[tool];
    });
    return { unlike, worker: worker.pid };
  });
}

const versionIn = (text: string | undefined): number => Number(/Version (\d+)/.exec(text ?? '')?.[1] ?? 0);

/** Accepts a tool as it was shown. */
async function accept({ world, server: { name, model }, tool }: Place): Promise<void> {
  const item = await world.shown(name, tool);
  if (item?.pin === undefined) return;
  const reason = await world.decide({ action: 'accept', server: name, shown: [{ key: item.key, pin: item.pin }] });
  // The list may have changed since it was shown, by a start in between.
  if (reason !== undefined && !model.stale) throw new Violation(`${name}:${tool} was not accepted: ${reason}`);
  if (reason !== undefined) return;
  model.accepted[tool] = versionIn(item.after);
  model.blocked.delete(tool);
}

/** Tries to accept what was shown before the server changed. */
async function acceptLate(place: Place): Promise<void> {
  const { world, server, tool } = place;
  const { name, model } = server;
  const item = await world.shown(name, tool);
  await announce(place);
  if (item?.pin === undefined || model.stale || versionIn(item.after) === model.listed[tool]) return;
  const reason = await world.decide({ action: 'accept', server: name, shown: [{ key: item.key, pin: item.pin }] });
  if (reason === undefined) throw new Violation(`${name}:${tool} was accepted although it had changed`);
}

async function block({ world, server: { name, model }, tool }: Place): Promise<void> {
  await world.decide({ action: 'block', server: name, keys: [`tools:${tool}`] });
  model.blocked.add(tool);
}

async function quarantine({ world, server: { name, model } }: Place): Promise<void> {
  model.quarantined = !model.quarantined;
  await world.decide({ action: model.quarantined ? 'quarantine' : 'release', server: name });
}

/** Decides while the file of the pins is locked by another process, so that nothing may change. */
async function refuseWrites({ world, server: { name }, tool }: Place): Promise<void> {
  const lock = `${world.pinsFile}.lock`;
  writeFileSync(lock, String(process.pid));
  try {
    const reason = await world.decide({ action: 'block', server: name, keys: [`tools:${tool}`] });
    if (reason === undefined) throw new Violation('a decision passed for stored');
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Damages the pins for a while, with and without another worker: nothing may run. */
async function damage(place: Place): Promise<void> {
  const { world, random } = place;
  const whole = readFileSync(world.pinsFile);
  writeFileSync(world.pinsFile, random.pick(['', '{}', whole.subarray(0, whole.length / 2), `${whole} `]));
  for (const { model } of world.servers) model.damaged = true;
  if (random.below(3) === 0) world.killWorker();
  for (const server of world.servers) for (const tool of TOOLS) await call({ ...place, server, tool });
  checkRuns(world);
  writeFileSync(world.pinsFile, whole);
  for (const { model } of world.servers) Object.assign(model, { damaged: false, stale: true });
}

/** Kills a process under four calls, often with a change that its next start lists. */
async function storm(place: Place, victim: (place: Place) => void): Promise<void> {
  const { world, server, random } = place;
  const calls = TOOLS.map((tool) => run(random.pick(world.hosts), server, tool));
  await new Promise((done) => setTimeout(done, random.below(LONGEST_WAIT_MS)));
  if (random.below(2) === 0) server.change(otherVersions(random, server.model));
  victim(place);
  await Promise.all(calls);
}

const killServer = ({ server }: Place): void => void server.signal('SIGKILL');
const killWorker = ({ world }: Place): void => world.killWorker();

/** Steps with their shares. */
const ACTIONS: readonly { share: number; name: string; act(place: Place): Promise<void> }[] = [
  { share: 460, name: 'call', act: call },
  { share: 140, name: 'browse', act: browse },
  { share: 120, name: 'accept', act: accept },
  { share: 20, name: 'accept late', act: acceptLate },
  { share: 30, name: 'announce', act: announce },
  { share: 30, name: 'block', act: block },
  { share: 30, name: 'quarantine or release', act: quarantine },
  { share: 10, name: 'refused write', act: refuseWrites },
  { share: 8, name: 'damage', act: damage },
  { share: 10, name: 'edit', act: async ({ world }) => world.edit() },
  { share: 60, name: 'server kill', act: (place) => storm(place, killServer) },
  { share: 20, name: 'worker kill', act: (place) => storm(place, killWorker) },
  {
    share: 12,
    name: 'window kill',
    act: ({ world, random }) => world.openWindow(random.below(world.hosts.length)),
  },
  {
    share: 6,
    name: 'rollout',
    act: async ({ world, server, random }) => {
      if (random.below(2) === 0) server.change(otherVersions(random, server.model));
      await world.rollOut();
    },
  },
];
/** Every action as often as its share. */
const LOTS = ACTIONS.flatMap((action) => Array.from({ length: action.share }, () => action));

describe(`${STEPS} random steps of servers, users and kills (WAYGATE_PIN_SEED=${SEED})`, () => {
  it('run no tool in a version that the user has not accepted, and lose no acceptance', {
    timeout: 120_000 + STEPS * 1_000,
  }, async () => {
    const random = new PseudoRandom(SEED);
    const first = await PinWorld.open(['one', 'two'], 2);
    const worlds = [first, await PinWorld.open(['one'], 1, first)];
    const tally: Record<string, number> = {};
    const trace: string[] = [];
    for (let step = 1; step <= STEPS; step++) {
      const world = random.pick(worlds);
      const place = { world, server: random.pick(world.servers), tool: random.pick(TOOLS), random };
      const { name, act } = random.pick(LOTS);
      tally[name] = (tally[name] ?? 0) + 1;
      try {
        await act(place);
        for (const one of worlds) checkRuns(one);
        trace.push(
          `${step} ${name} at ${worlds.indexOf(world)}/${place.server.name}:${place.tool} ${JSON.stringify(place.server.model)}`,
        );
      } catch (error) {
        trace.push(
          `${step} ${name} at ${worlds.indexOf(world)}/${place.server.name}:${place.tool}: ${(error as Error).message}`,
        );
        throw new Error(`Step ${trace.slice(-TRACED).join('\n')}`);
      }
    }
    // At the end everything accepted runs and nothing else, after a last list.
    for (const world of worlds) {
      await world.refresh();
      for (const server of world.servers) for (const tool of TOOLS) await call({ world, server, tool, random });
      checkRuns(world);
      world.close();
    }
    console.log(`steps: ${STEPS}, ${JSON.stringify(tally)}`);
    expect(Object.values(tally).reduce((sum, count) => sum + count)).toBe(STEPS);
  });
});
