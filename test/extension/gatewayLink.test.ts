import { tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ControlClient } from '../../src/control/client.ts';
import { GatewayLink, type LinkState } from '../../src/extension/gateway/gatewayLink.ts';
import { ATTACH_LIMIT_MS, RETRY_DELAYS_MS, STOP_LIMIT_MS } from '../../src/extension/gateway/linkMachine.ts';
import { Refreshes } from '../../src/extension/status/refreshes.ts';
import { startWorker } from '../../src/host/attach/startWorker.ts';
import { NO_CHILDREN, ScriptedWorker, snapshot } from './fixtures.ts';

const WORKSPACE = { workspace: '/work/project' };
let link: GatewayLink;
let workers: ScriptedWorker[];
let signals: AbortSignal[];
let attach: (worker: ScriptedWorker) => Promise<ControlClient | undefined>;
let seen: string[];

beforeEach(() => {
  vi.useFakeTimers();
  workers = [];
  signals = [];
  seen = [];
  attach = async (worker) => worker;
  link = new GatewayLink((_, signal) => {
    const worker = new ScriptedWorker();
    workers.push(worker);
    signals.push(signal);
    return attach(worker);
  });
  link.state.onChange((state) => seen.push(state.kind));
});

afterEach(() => {
  link.dispose();
  expect(vi.getTimerCount(), 'timers left behind').toBe(0);
  vi.useRealTimers();
});

const settle = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);
const worker = (index = workers.length - 1): ScriptedWorker => {
  const found = workers.at(index);
  if (!found) throw new Error(`There is no worker ${index}.`);
  return found;
};
function attachedState(): Extract<LinkState, { kind: 'attached' }> {
  const state = link.state.value;
  if (state.kind !== 'attached') throw new Error(`The link is ${state.kind}.`);
  return state;
}

describe('GatewayLink', () => {
  it('says in words of the editor that its own build cannot serve any more', async () => {
    const missing = { workspace: WORKSPACE.workspace, nodePath: process.execPath, workerScript: '/gone/worker.cjs' };
    vi.useRealTimers();
    const error = await startWorker(missing, tmpdir()).catch((thrown: unknown) => thrown);
    vi.useFakeTimers();
    expect((error as Error).message).toContain('restart this client');
    attach = () => Promise.reject(error);
    link.setTarget(WORKSPACE);
    await settle();
    expect(link.state.value).toMatchObject({
      kind: 'waiting',
      reason:
        'This build of the extension was removed, probably by an update: run the command Developer: Reload Window.',
    });
    link.setTarget({ off: 'no_folder' });
  });

  it('starts nothing before it has a target, and nothing at all while it is off', async () => {
    link.setTarget({ off: 'untrusted' });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(workers).toEqual([]);
    expect(link.state.value).toEqual({ kind: 'off', reason: 'untrusted' });
  });

  it('attaches, watches, and publishes each complete snapshot', async () => {
    link.setTarget(WORKSPACE);
    expect(link.state.value).toEqual({ kind: 'attaching' });
    await settle();
    expect(worker().asked).toEqual(['watch']);
    expect(attachedState().snapshot).toEqual(snapshot());
    const next = snapshot({ health: 'degraded' });
    worker().send(next);
    expect(attachedState().snapshot).toBe(next);
  });

  it('does not replace a newer snapshot by the first answer', async () => {
    const newer = snapshot({ health: 'degraded' });
    attach = async (one) => {
      one.answer = () => {
        one.send(newer);
        return snapshot();
      };
      return one;
    };
    link.setTarget(WORKSPACE);
    await settle();
    expect(attachedState().snapshot).toBe(newer);
  });

  it('replaces a killed worker, and distinguishes it from the first', async () => {
    link.setTarget(WORKSPACE);
    await settle();
    const first = attachedState().attachment;
    await vi.advanceTimersByTimeAsync(60_000);
    worker().end();
    expect(link.state.value).toMatchObject({ kind: 'waiting', delayMs: RETRY_DELAYS_MS[0] });
    await vi.advanceTimersByTimeAsync(RETRY_DELAYS_MS[0] ?? 0);
    expect(workers).toHaveLength(2);
    expect(attachedState().attachment).toBeGreaterThan(first);
    expect(seen).toEqual(['attaching', 'attached', 'waiting', 'attaching', 'attached']);
  });

  it('sends a request between two workers to the next one', async () => {
    link.setTarget(WORKSPACE);
    await settle();
    worker().end();
    const asked = link.refresh();
    await vi.advanceTimersByTimeAsync(RETRY_DELAYS_MS[0] ?? 0);
    await asked;
    expect(worker(1).asked).toEqual(['watch', 'refresh']);
  });

  it('sends a request to the next worker if the one before was killed with it', async () => {
    link.setTarget(WORKSPACE);
    await settle();
    const losses: ((error: Error) => void)[] = [];
    worker(0).answer = () => new Promise((_, reject) => losses.push(reject));
    const asked = link.children('/');
    const called = link.request('callTool', { name: 'tool_view', args: {} });
    const lost = expect(called).rejects.toThrow('The connection was closed.');
    worker(0).end();
    for (const lose of losses) lose(new Error('The connection was closed.'));
    await lost;
    await vi.advanceTimersByTimeAsync(RETRY_DELAYS_MS[0] ?? 0);
    await asked;
    expect(worker(1).asked).toEqual(['watch', 'children']);
  });

  it('answers a request with the reason if the next worker does not come, and at once when it is far', async () => {
    link.setTarget(WORKSPACE);
    await settle();
    attach = async () => {
      throw new Error('The state folder cannot be written.');
    };
    worker().end();
    const refused = expect(link.status()).rejects.toThrow('The state folder cannot be written.');
    await vi.advanceTimersByTimeAsync(RETRY_DELAYS_MS[0] ?? 0);
    await refused;
    for (const ms of RETRY_DELAYS_MS.slice(1, 4)) await vi.advanceTimersByTimeAsync(ms);
    await expect((async () => link.status())()).rejects.toThrow('The gateway is not running yet');
  });

  it('ignores messages from a detached worker', async () => {
    link.setTarget(WORKSPACE);
    await settle();
    worker(0).end();
    await vi.advanceTimersByTimeAsync(1_000);
    const now = link.state.value;
    worker(0).send(snapshot({ health: 'stopping' }));
    worker(0).end();
    expect(link.state.value).toBe(now);
    expect(worker(0).disposed).toBe(true);
  });

  it('reports the reason when no worker is available, and keeps trying', async () => {
    attach = async () => {
      throw new Error('The state folder cannot be written.');
    };
    link.setTarget(WORKSPACE);
    await settle();
    expect(link.state.value).toMatchObject({ kind: 'waiting', reason: 'The state folder cannot be written.' });
    attach = async (one) => one;
    await vi.advanceTimersByTimeAsync(RETRY_DELAYS_MS[0] ?? 0);
    expect(link.state.value.kind).toBe('attached');
  });

  it('abandons an attachment that hangs, and disposes a worker that arrives late', async () => {
    let come: (client: ControlClient) => void = () => undefined;
    attach = () => new Promise((resolve) => (come = resolve));
    link.setTarget(WORKSPACE);
    await vi.advanceTimersByTimeAsync(ATTACH_LIMIT_MS);
    expect(link.state.value.kind).toBe('waiting');
    expect(signals[0]?.aborted).toBe(true);
    come(worker(0));
    await settle();
    expect(worker(0).disposed).toBe(true);
    expect(worker(0).asked).toEqual([]);
  });

  it('retries when the worker exits before its first snapshot', async () => {
    attach = async (one) => {
      one.answer = () => new Promise(() => undefined);
      return one;
    };
    link.setTarget(WORKSPACE);
    await settle();
    worker().end();
    expect(link.state.value).toMatchObject({ kind: 'waiting', reason: 'The gateway exited while it was starting.' });
  });

  it('detaches when the configuration is deleted', async () => {
    link.setTarget(WORKSPACE);
    await settle();
    link.setTarget({ off: 'no_configuration' });
    expect(worker().disposed).toBe(true);
    expect(link.state.value).toEqual({ kind: 'off', reason: 'no_configuration' });
  });

  it('refreshes, and shows the content of the answer', async () => {
    link.setTarget(WORKSPACE);
    await settle();
    const fresh = snapshot({ catalog: { revision: 9, toolCount: 1, namespaceCount: 1, skipped: [] } });
    worker().answer = () => fresh;
    await link.refresh();
    expect(worker().asked).toEqual(['watch', 'refresh']);
    expect(attachedState().snapshot).toEqual(fresh);
  });

  it('marks no server as being listed whose refresh ended before the answer came', async () => {
    const refreshes = new Refreshes(() => false);
    link.refreshed.onChange((news) => news && refreshes.ended(news));
    link.setTarget(WORKSPACE);
    await settle();
    const ended = (server: string) => worker().refreshed({ server, added: 0, removed: 0, changed: 0 });
    worker().answer = () => {
      ended('early');
      return { ...snapshot(), began: ['early', 'late'] };
    };
    const results = link.refresh(undefined, (servers) => refreshes.begin(servers));
    await settle();
    expect([...refreshes.busy.value]).toEqual(['late']);
    ended('late');
    expect((await results).map(({ server }) => server)).toEqual(['early', 'late']);
    expect(refreshes.busy.value.size).toBe(0);
    expect(refreshes.news.value).toBe('2 servers: nothing changed.');
    refreshes.dispose();
  });

  it('explains a request before the attachment', async () => {
    await expect(link.refresh()).rejects.toThrow('run the command Waygate: Restart Gateway');
    expect(() => link.children('/')).toThrow('The gateway is not running yet');
  });

  it('holds a request until the worker that is starting is attached', async () => {
    link.setTarget(WORKSPACE);
    const refreshed = link.refresh();
    await settle();
    await refreshed;
    expect(worker().asked).toEqual(['watch', 'refresh']);
  });

  it('returns the children of a path', async () => {
    link.setTarget(WORKSPACE);
    await settle();
    worker().answer = () => NO_CHILDREN;
    expect(await link.children('/files')).toBe(NO_CHILDREN);
  });

  it('restarts: stops the worker, and is done when the next worker is attached', async () => {
    link.setTarget(WORKSPACE);
    await settle();
    const done = link.restart();
    expect(link.state.value.kind).toBe('stopping');
    expect(worker(0).asked).toContain('stop');
    worker(0).end();
    await done;
    expect(workers).toHaveLength(2);
    expect(attachedState().attachment).toBe(2);
  });

  it('reloads: stays attached until another worker has taken over, and stops none', async () => {
    link.setTarget(WORKSPACE);
    await settle();
    let takeOver = (): void => undefined;
    const done = link.reload(() => new Promise<void>((resolve) => (takeOver = resolve)));
    await settle();
    expect(attachedState().attachment).toBe(1);
    takeOver();
    await done;
    expect(attachedState().attachment).toBe(2);
    expect(worker(0).asked).not.toContain('stop');
    expect(worker(0).disposed).toBe(true);
  });

  it('moves to the successor and keeps the last state until the successor’s first snapshot', async () => {
    link.setTarget(WORKSPACE);
    await settle();
    const before = attachedState();
    let come: (client: ControlClient) => void = () => undefined;
    attach = () => new Promise((resolve) => (come = resolve));
    worker(0).giveWay();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(attachedState()).toEqual(before);
    // A request in the meantime is answered by the successor.
    const asked = link.children('/');
    const next = snapshot({ health: 'degraded' });
    worker(1).answer = (method) => (method === 'children' ? NO_CHILDREN : next);
    come(worker(1));
    expect(await asked).toBe(NO_CHILDREN);
    expect(attachedState()).toEqual({ kind: 'attached', attachment: 2, snapshot: next });
    expect(new Set(seen)).toEqual(new Set(['attaching', 'attached']));
    expect(worker(0).asked).toEqual(['watch']);
  });

  it('sends a request to the next worker if the previous one was replaced before it answered', async () => {
    link.setTarget(WORKSPACE);
    await settle();
    let lose: (error: Error) => void = () => undefined;
    worker(0).answer = () => new Promise((_, reject) => (lose = reject));
    const refreshed = link.refresh();
    worker(0).giveWay();
    lose(new Error('The connection was closed.'));
    await refreshed;
    expect(worker(1).asked).toEqual(['watch', 'refresh']);
  });

  it('reports that the successor has exited', async () => {
    link.setTarget(WORKSPACE);
    await settle();
    attach = async () => {
      throw new Error('It is gone.');
    };
    worker(0).giveWay();
    await settle();
    expect(link.state.value).toMatchObject({ kind: 'waiting', reason: 'It is gone.' });
  });

  it('stays with its worker when the new one fails, and reports the reason', async () => {
    link.setTarget(WORKSPACE);
    await settle();
    const failing = link.reload(() => Promise.reject(new Error('It ended at its start.')));
    await expect(failing).rejects.toThrow('It ended at its start.');
    expect(attachedState().attachment).toBe(1);
    expect(workers).toHaveLength(1);
  });

  it('restarts a worker that does not answer', async () => {
    link.setTarget(WORKSPACE);
    await settle();
    worker(0).answer = () => Promise.reject(new Error('gone'));
    const done = link.restart();
    await vi.advanceTimersByTimeAsync(STOP_LIMIT_MS);
    await done;
    expect(workers).toHaveLength(2);
  });

  it('reports a failed restart', async () => {
    link.setTarget(WORKSPACE);
    await settle();
    attach = async () => {
      throw new Error('The port is taken.');
    };
    const done = link.restart();
    worker(0).end();
    await expect(done).rejects.toThrow('The port is taken.');
    link.setTarget({ off: 'untrusted' });
    await expect(link.restart()).rejects.toThrow('The gateway is off in this workspace.');
  });

  it('publishes equal states only once', () => {
    link.setTarget({ off: 'no_configuration' });
    link.setTarget({ off: 'no_configuration' });
    expect(seen).toEqual(['off']);
  });
});
