import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { healthOf, stateFolder, status } from '../support/census.ts';
import { FaultGateway, type FaultScript, type FaultStep, outcomeOf, UNDISTURBED } from '../support/faultGateway.ts';
import { GatewaySession } from '../support/gateway.ts';
import { isAlive, until, withoutIdNote } from '../support/hostProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

/** Servers that do not become ready: the reason is reported, and no other server waits (O5.6). */

const at = (on: string, ...actions: (string | Record<string, unknown>)[]): FaultScript => ({
  steps: [{ on, do: actions }],
});

/** Health of a server that is not restarted until its configuration changes. */
const LEFT_ALONE = { supervision: 'needs_configuration', generation: 1, restart_count: 0 };

describe('a command that cannot be started', () => {
  it.each([
    [
      'does not exist',
      { command: 'waygate-no-such-command' },
      /"waygate-no-such-command" was not found/,
      'spawn_enoent',
    ],
    ['is not executable', { command: '/tmp' }, /The command "\/tmp" cannot be run/, 'spawn_eacces'],
  ])('because it %s is named in the reason and not tried again', async (_what, config, reason, code) => {
    const workspace = testWorkspace({
      faulty: { ...config, env: { TOKEN: 'not-to-be-shown' } },
      other: servers.fixture(),
    });
    const host = await GatewaySession.connect(workspace);
    await host.toolId('/other/echo');
    const failed = await until('its reason', async () => {
      const faulty = (await status(workspace)).servers.find(({ name }) => name === 'faulty');
      return faulty?.state === 'failed' && faulty.reason;
    });
    expect(failed).toMatch(reason);
    expect(failed).not.toContain('not-to-be-shown');
    const answer = await host.call('tool_execute', { tool_id: 'faulty:act', args: {} });
    expect(outcomeOf(answer)).toBe('not_dispatched');
    expect(await healthOf(workspace, 'faulty')).toMatchObject({
      ...LEFT_ALONE,
      last_fault: { class: 'process', code },
    });
    const echo = { tool_id: 'other:echo', args: { text: 'undisturbed' } };
    expect(withoutIdNote(await host.call('tool_execute', echo)).text).toBe(UNDISTURBED);
  });
});

describe('a server that exits', () => {
  it.each([
    [
      'at its start, with output on stderr',
      [{ stderr: 200 }, { exit: 3 }],
      'start',
      /ended before it answered \(exit code 3\)/,
    ],
    ['during initialize', [{ exit: 0 }], 'initialize', /ended before it answered \(exit code 0\)/],
    ['during initialize, by SIGKILL', ['sigkill'], 'initialize', /ended before it answered \(SIGKILL\)/],
    ['in the middle of its answer', ['partial', 'sigkill'], 'initialize', /ended before it answered \(SIGKILL\)/],
    ['while it lists', ['partial', { exit: 1 }], 'tools/list', /ended before it answered \(exit code 1\)/],
  ] as const)(
    '%s is reported with its exit reason, and the other server serves',
    async (_what, actions, on, reason) => {
      const gateway = await FaultGateway.open(at(on, ...actions), { ready: false });
      const shown = await until('its reason', async () => {
        const { state, reason: why } = await gateway.faulty();
        return state === 'failed' && why;
      });
      expect(shown).toMatch(reason);
      expect(await gateway.other()).toBe(UNDISTURBED);
      expect(outcomeOf(await gateway.act('never'))).toBe('not_dispatched');
      expect(gateway.effects).toEqual([]);
      // Five starts, then one per minute.
      const health = await until('the crash loop', async () => {
        const one = await healthOf(gateway.workspace, 'faulty');
        return one?.supervision === 'crash_loop' && one;
      });
      expect(health.next_attempt_in_ms).toBeGreaterThan(10_000);
      expect(gateway.lives).toHaveLength(5);
      expect(gateway.lives.filter(isAlive)).toEqual([]);
    },
  );
});

describe('a server that answers initialize with', () => {
  it.each([
    [
      'an error',
      { raw: '{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"no such client"}}' },
      /no such client/,
    ],
    [
      'an unknown version',
      {
        raw: '{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}',
      },
      /^It uses an unsupported version of MCP \(1999-01-01\)\.$/,
    ],
    ['an answer that is not JSON', { raw: '{"jsonrpc":"2.0","id":ID,"result":{' }, /an answer that is not JSON/],
  ])('%s is reported as failed at once', async (_what, action, reason) => {
    const gateway = await FaultGateway.open(at('initialize', action), { ready: false });
    const { reason: shown } = await until('its reason', async () => {
      const faulty = await gateway.faulty();
      return faulty.state === 'failed' && faulty;
    });
    expect(shown).toMatch(reason);
    expect(await gateway.other()).toBe(UNDISTURBED);
    await until('its end', () => gateway.lives.filter(isAlive).length === 0);
  });
});

describe('a server that refuses initialize', () => {
  it.each([-32000, -32001, -32603])(
    'with code %i is not started again until its configuration changes',
    async (code) => {
      const raw = `{"jsonrpc":"2.0","id":ID,"error":{"code":${code},"message":"login failed"}}`;
      const gateway = await FaultGateway.open(at('initialize', { raw }), { ready: false });
      const { reason } = await until('its reason', async () => {
        const faulty = await gateway.faulty();
        return faulty.state === 'failed' && faulty;
      });
      expect(reason).toBe('It answered with an error: login failed.');
      expect(outcomeOf(await gateway.act('never'))).toBe('not_dispatched');
      expect(gateway.lives).toHaveLength(1);
      const health = await healthOf(gateway.workspace, 'faulty');
      expect(health).toMatchObject({ ...LEFT_ALONE, last_fault: { class: 'protocol', code: 'initialize_refused' } });
      expect(health).not.toHaveProperty('next_attempt_in_ms');
    },
  );
});

describe('a server with an unsupported protocol version', () => {
  it('is not started again until its configuration changes', async () => {
    const result = { protocolVersion: '1999-01-01', capabilities: {}, serverInfo: { name: 'x', version: '1' } };
    const raw = `{"jsonrpc":"2.0","id":ID,"result":${JSON.stringify(result)}}`;
    const gateway = await FaultGateway.open(at('initialize', { raw }), { ready: false });
    await until('its reason', async () => (await gateway.faulty()).state === 'failed');
    expect(outcomeOf(await gateway.act('never'))).toBe('not_dispatched');
    expect(gateway.lives).toHaveLength(1);
    const health = await healthOf(gateway.workspace, 'faulty');
    expect(health).toMatchObject({ ...LEFT_ALONE, last_fault: { class: 'protocol', code: 'unsupported_version' } });
    expect(health).not.toHaveProperty('next_attempt_in_ms');
  });
});

describe('a server that exits while it lists again', () => {
  it('is reported with its exit reason, not as a failed list', async () => {
    // Waygate has its catalog from the first start, so the server is ready before it lists: it exits while serving.
    const steps: FaultStep[] = [
      { on: 'tools/call', life: 1, do: [{ exit: 7 }] },
      ...[2, 3, 4, 5].map((life) => ({ on: 'tools/list', life, do: [{ exit: 7 }] })),
    ];
    const gateway = await FaultGateway.open({ steps });
    await gateway.act('a');
    const { reason } = await until('its crash loop', async () => {
      const faulty = await gateway.faulty();
      return gateway.lives.length === 5 && faulty.state === 'failed' && faulty;
    });
    expect(reason).toMatch(/^It exited unexpectedly \(exit code 7\)\. The shown catalog/);
    const log = readFileSync(join(stateFolder(gateway.workspace), 'worker.log'), 'utf8');
    expect(log.match(/faulty: lost: It exited unexpectedly \(exit code 7\)\./g)).toHaveLength(5);
    expect(log).not.toMatch(/faulty: .*(?:answered with an error|could not list)/);
  });
});

describe('a server that hangs', () => {
  it.each([
    ['before it reads its input', at('start', 'block')],
    ['during initialize', at('initialize', 'hang')],
    ['while it lists', at('tools/list', 'hang')],
  ])('%s delays no other server, and a call to it ends unsent at its own time limit', async (_what, script) => {
    const blocks = { timeouts: { servers: { faulty: 0.5 } } };
    const gateway = await FaultGateway.open(script, { ready: false, blocks });
    expect((await gateway.faulty()).state).toBe('starting');
    expect(await gateway.other()).toBe(UNDISTURBED);
    expect(outcomeOf(await gateway.act('never'))).toBe('not_dispatched');
    expect(gateway.effects).toEqual([]);
  });
});

describe('a server that becomes ready in spite of', () => {
  it.each<[string, FaultScript]>([
    ['a slow start', at('initialize', { delay: 1_500 }, 'reply')],
    [
      'a banner, colours and bytes',
      at('start', { raw: '\u001b[1mHello\u001b[0m' }, { base64: 'AP/+Cg==' }, { flood: 'garbage', count: 50 }),
    ],
    ['a byte order mark', at('start', { base64: '77u/' })],
    ['five megabytes on stderr', at('start', { stderr: 5_000_000 })],
    ['a duplicate answer', at('initialize', 'reply', { raw: 'JSON' })],
    ['requests before initialize', at('start', { flood: 'ask', count: 3 })],
  ])('%s is used like any other', async (_what, script) => {
    const gateway = await FaultGateway.open(script);
    expect((await gateway.act('a')).text).toBe('ok\na\n');
    expect(await gateway.other()).toBe(UNDISTURBED);
    expect(gateway.lives).toHaveLength(1);
  });
});
