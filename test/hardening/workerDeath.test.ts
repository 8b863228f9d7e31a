import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { killedByAttachers, otherBuild } from '../support/builds.ts';
import { rendezvous, waygate, workersOf } from '../support/census.ts';
import { HostProcess, isAlive, pidsIn, SHORT_SILENCE, until } from '../support/hostProcess.ts';
import { linesOf } from '../support/lines.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

/** Configures a server whose calls must not be repeated, and one whose calls may be. */
function twoContracts() {
  const workspace = testWorkspace();
  const effects = { once: workspace.write('once.txt', ''), again: workspace.write('again.txt', '') };
  workspace.configure({
    once: servers.fixture('--effects', effects.once),
    again: servers.fixture('--effects', effects.again),
  });
  const config = JSON.parse(readFileSync(workspace.configFile, 'utf8')) as object;
  writeFileSync(workspace.configFile, JSON.stringify({ ...config, replay: { servers: { again: 'convergent' } } }));
  return { workspace, effects };
}

/** Calls of a session whose worker dies at a given moment (O3). */
describe('the death of a worker', () => {
  it('before a call is sent makes the next worker send it, for the first time', async () => {
    const { workspace, effects } = twoContracts();
    const host = await HostProcess.connect(workspace);
    const id = await host.toolId('/once/wait');
    const { pid } = rendezvous(workspace) as { pid: number };
    process.kill(pid, 'SIGKILL');
    await until('the loss', () => host.stderr.includes('worker lost'));
    const answer = await host.call('tool_execute', { tool_id: id, args: { ms: 10, nonce: 'first' } });
    expect(answer).toMatchObject({ isError: false, text: 'ok\nwaited 10 ms\n' });
    expect(linesOf(effects.once)).toEqual(['first']);
  });

  it('repeats only calls that may be repeated, answers each call once, and serves later calls', async () => {
    const { workspace, effects } = twoContracts();
    const host = await HostProcess.connect(workspace);
    const [once, again] = [await host.toolId('/once/wait'), await host.toolId('/again/wait')];
    const call = (id: string, nonce: string) =>
      host.call('tool_execute', { tool_id: id, args: { until: workspace.gate, nonce } });
    const calls = [call(once, 'a'), call(again, 'b'), call(once, 'c'), call(again, 'd')];
    await until('the effects', () => linesOf(effects.once).length === 2 && linesOf(effects.again).length === 2);
    process.kill((rendezvous(workspace) as { pid: number }).pid, 'SIGKILL');
    await until('the repeated effects', () => linesOf(effects.again).length === 4);
    workspace.letGo();
    const [a, b, c, d] = await Promise.all(calls);
    for (const lost of [a, c]) {
      expect(lost?.isError).toBe(true);
      expect(lost?.text).toMatch(/^Error UPSTREAM_UNAVAILABLE: .*may have taken effect: check before you repeat it\./);
      expect(lost?.text).toContain('outcome: unknown');
      expect(lost?.text).not.toContain('retryable');
    }
    for (const answered of [b, d])
      expect(answered).toMatchObject({ isError: false, text: 'ok\nwaited until it was let go\n' });
    expect(linesOf(effects.once).sort()).toEqual(['a', 'c']);
    expect(linesOf(effects.again).sort()).toEqual(['b', 'b', 'd', 'd']);
    const later = await host.call('tool_execute', { tool_id: once, args: { ms: 1, nonce: 'later' } });
    expect(later).toMatchObject({ isError: false });
    const ids = host.lines.map((line) => (JSON.parse(line) as { id: number }).id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('again and again exhausts the attempts, and the session stays', async () => {
    const workspace = testWorkspace({});
    const bad = { ...workspace, program: otherBuild({ worker: killedByAttachers }) };
    const host = await HostProcess.connect(bad);
    const read = await host.call('tool_browse', { path: '/' });
    expect(read.isError).toBe(true);
    expect(read.text).toContain('fault: replay/replay_exhausted');
    expect(read.text).toContain('attempts: 3');
    const write = await host.call('tool_execute', { tool_id: 'x:y@0#00000000', args: {} });
    expect(write.isError).toBe(true);
    await until('the crash loop', async () => {
      const { text } = await host.call('tool_browse', { path: '/' });
      return text.includes('fault: process/crash_loop');
    });
    // From here on the error comes at once, not after three more attempts.
    const answer = await host.call('tool_browse', { path: '/' });
    expect(answer.text).toContain('keeps exiting and is retried only once a minute');
    expect((await host.request('ping')).result).toEqual({});
    expect(await workersOf(workspace)).toEqual([]);
    host.end();
    expect(await host.exited).toBe(69);
  });
});

describe('a worker that hangs', () => {
  it('is replaced and ended with its servers, and both sessions continue', async () => {
    const workspace = testWorkspace();
    const pids = workspace.write('pids.txt', '');
    workspace.configure({ one: servers.fixture('--pid-file', pids, '--grandchild') });
    const first = await HostProcess.connect(workspace);
    const id = await first.toolId('/one/echo');
    const hung = rendezvous(workspace)?.pid as number;
    const left = pidsIn(pids);
    process.kill(hung, 'SIGSTOP');
    const second = await HostProcess.connect(workspace, [], {}, SHORT_SILENCE);
    expect((await second.call('tool_browse', { path: '/one' })).isError).toBe(false);
    expect(rendezvous(workspace)?.pid).not.toBe(hung);
    await until('its end', () => !isAlive(hung));
    await until('the end of its servers', () => !left.some(isAlive));
    const answer = await first.call('tool_execute', { tool_id: id, args: { text: 'on' } });
    expect(answer).toMatchObject({ isError: false, text: 'ok\non\n' });
    expect(await workersOf(workspace)).toEqual([rendezvous(workspace)?.pid]);
    const { stdout } = await waygate(workspace, ['health', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      generation: 2,
      restart_count: 1,
      last_fault: { class: 'timeout', code: 'unresponsive' },
    });
  });

  it('is ended before its successor begins the calls that it had not begun', async () => {
    const { workspace, effects } = twoContracts();
    const host = await HostProcess.connect(workspace, [], {}, SHORT_SILENCE);
    const [once, again] = [await host.toolId('/once/wait'), await host.toolId('/again/wait')];
    const call = (id: string, args: object) => host.call('tool_execute', { tool_id: id, args });
    const begun = [
      call(once, { until: workspace.gate, nonce: 'lost' }),
      call(again, { until: workspace.gate, nonce: 'repeated' }),
    ];
    await until('the effects', () => linesOf(effects.once).length === 1 && linesOf(effects.again).length === 1);
    const hung = rendezvous(workspace)?.pid as number;
    process.kill(hung, 'SIGSTOP');
    const unbegun = [call(once, { ms: 10, nonce: 'unbegun' }), call(again, { ms: 10, nonce: 'unbegun too' })];
    for (const answer of await Promise.all(unbegun)) expect(answer.text).toBe('ok\nwaited 10 ms\n');
    expect(isAlive(hung)).toBe(false);
    workspace.letGo();
    const [lost, repeated] = await Promise.all(begun);
    expect(lost?.text).toContain('outcome: unknown');
    expect(repeated?.text).toMatch(/^ok\n/);
    expect(linesOf(effects.once)).toEqual(['lost', 'unbegun']);
    expect(linesOf(effects.again).sort()).toEqual(['repeated', 'repeated', 'unbegun too']);
  });

  it('leaves a read to its successor, whatever spelling of the tool the client used', async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const host = await HostProcess.connect(workspace, [], {}, SHORT_SILENCE);
    await host.toolId('/one/echo');
    const hung = rendezvous(workspace)?.pid as number;
    process.kill(hung, 'SIGSTOP');
    const names = ['tool_browse', 'mcp__waygate__tool_browse'];
    for (const answer of await Promise.all(names.map((name) => host.call(name, { path: '/' })))) {
      expect(answer).toMatchObject({ isError: false, text: expect.stringContaining('/one') });
    }
    await until('its end', () => !isAlive(hung));
  });
});
