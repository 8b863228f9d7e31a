import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { rendezvous } from '../support/census.ts';
import { HostProcess, until } from '../support/hostProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

/** A server whose `put` is lost in the middle, and whose `seen` tells whether it had its effect. */
async function probed() {
  const workspace = testWorkspace();
  const log = workspace.write('effects.txt', '');
  const one = servers.fixture('--probed', '--effects', log);
  workspace.configure({ one });
  const probe = { tool: 'seen', arguments: { nonce: { $arg: '/nonce' } }, effect: { at: '/done', equals: true } };
  const replay = { tools: { put: 'probe_required' }, probes: { put: probe } };
  writeFileSync(workspace.configFile, JSON.stringify({ servers: { one }, replay }));
  const host = await HostProcess.connect(workspace);
  const id = await host.toolId('/one/put');
  return {
    workspace,
    host,
    put: (nonce: string, ends: string) => host.call('tool_execute', { tool_id: id, args: { nonce, ends } }),
    told: () => readFileSync(log, 'utf8').trim().split('\n'),
  };
}

/** 004, Replay; the adversarial matrix, point 6: probe-required waits, or is treated stricter. */
describe('a call that is asked about before it is sent again', () => {
  it('has taken effect when its server is lost after it: it is told so and not sent again', async () => {
    const { put, told } = await probed();
    const answer = await put('a', 'after');
    expect(answer).toMatchObject({
      isError: false,
      text: expect.stringContaining('which has taken effect: seen shows it'),
    });
    expect(told()).toEqual(['begun a', 'effect a', 'asked a']);
  });

  it('has not when its server is lost before it: it is sent again, once', async () => {
    const { put, told } = await probed();
    expect(await put('b', 'before')).toMatchObject({ isError: false, text: 'ok\nnoted\n' });
    expect(told()).toEqual(['begun b', 'asked b', 'begun b', 'effect b']);
  });

  it('is not asked about when the worker is lost: what it left running may act after the question', async () => {
    const { workspace, host, put, told } = await probed();
    const call = put('c', 'never');
    await until('the effect', () => told().includes('effect c'));
    process.kill(rendezvous(workspace)?.pid as number, 'SIGKILL');
    const answer = await call;
    expect(answer.text).toMatch(
      /^Error UPSTREAM_UNAVAILABLE: .* It may have taken effect: check before you repeat it\./,
    );
    expect(answer.text).toContain('outcome: unknown');
    expect((await put('d', 'no')).text).toBe('ok\nnoted\n');
    expect(told()).toEqual(['begun c', 'effect c', 'begun d', 'effect d']);
    expect(host.lines.filter((line) => line.includes('may have taken effect'))).toHaveLength(1);
  });
});
