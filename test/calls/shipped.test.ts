import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HostProcess, until } from '../support/hostProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

/** The pipeline as shipped, with the built host, worker and validation thread. */
describe('tool_execute of the built worker', () => {
  const connect = async () => {
    const script = join(import.meta.dirname, '../fixtures/hostileServer.mjs');
    const workspace = testWorkspace({ hostile: { command: process.execPath, args: [script] } });
    const host = await HostProcess.connect(workspace);
    const ids = new Map<string, string>();
    for (const name of ['chain', 'tree', 'pattern']) ids.set(name, await host.toolId(`/hostile/${name}`));
    const execute = (name: string, args: object, more: object = {}) =>
      host.call('tool_execute', { tool_id: ids.get(name), args, ...more });
    return { host, execute };
  };

  it('runs slow checks in its thread', async () => {
    const { execute } = await connect();
    const good = await execute('tree', { value: 1, children: [{ value: 2 }] });
    expect(good).toMatchObject({ isError: false, text: 'ok\ncalled tree\n' });
    // On a busy machine the first answer may come too late; the next call finds the schema compiled.
    const bad = await until('a verdict', async () => {
      const answer = await execute('tree', { value: 1, children: [{ value: 'two' }] });
      return answer.isError && answer;
    });
    expect(bad.isError).toBe(true);
    expect(bad.text).toMatch(
      /^Error ARGS_INVALID: Correct the arguments of tree and call again: children\.0\.value must be a whole number, not a string\.\n/,
    );
    expect(bad.text).toContain('problems:\n- children.0.value must be a whole number, not a string\n');
  });

  it('serves other calls during the check of a hostile schema, and sends that call with a note', async () => {
    const { host, execute } = await connect();
    await execute('tree', { value: 1 });
    const hostile = ['chain', 'pattern'].map((name) =>
      execute(name, { x: 'y', a: `${'a'.repeat(40)}!` }, { render: 'json' }),
    );
    let slowest = 0;
    for (let i = 0; i < 20; i++) {
      const asked = performance.now();
      await host.request('tools/list');
      slowest = Math.max(slowest, performance.now() - asked);
    }
    for (const { isError, structured } of await Promise.all(hostile)) {
      expect(isError).toBe(false);
      expect(structured?.provenance).toMatchObject({ args_unchecked: expect.stringContaining('took too long') });
    }
    // Without a kill, each would block the loop for far longer.
    expect(slowest).toBeLessThan(20_000);
  });

  it('describes a dry run', async () => {
    // A plain schema is checked in the worker itself: the thread's time limit cannot decide this test.
    const host = await HostProcess.connect(testWorkspace({ one: servers.fixture() }));
    const tool_id = await host.toolId('/one/echo');
    const { text, isError } = await host.call('tool_execute', { tool_id, args: { text: 'hi' }, dry_run: true });
    expect(isError).toBe(false);
    expect(text.split('\n').slice(0, 4)).toEqual([
      expect.stringMatching(/^Dry run of one:echo#[0-9a-f]{8}: nothing was called, and the call would be sent\.$/),
      'schema_validation: pass',
      'rate_limit: pass',
      'policy: pass',
    ]);
    expect(text).toContain('\nserver: one is ready\nreplay: never_replay: a lost call is never repeated');
    expect(text).toContain('expected: unknown, no earlier calls');
  });
});
