import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stateFolder, status, waygate } from '../support/census.ts';
import { FaultGateway, type FaultScript, type FaultStep, outcomeOf, UNDISTURBED } from '../support/faultGateway.ts';
import { GatewaySession } from '../support/gateway.ts';
import { isAlive, until, withoutIdNote } from '../support/hostProcess.ts';
import { servers, type TestWorkspace, testWorkspace } from '../support/workspace.ts';

/** Servers that do not become ready: the reason is reported, and no other server waits (O5.6). */

const at = (on: string, ...actions: (string | Record<string, unknown>)[]): FaultScript => ({
  steps: [{ on, do: actions }],
});

async function healthOfFaulty(workspace: TestWorkspace): Promise<object> {
  const { servers: all } = JSON.parse((await waygate(workspace, ['health', '--json'])).stdout);
  return all.find(({ name }: { name: string }) => name === 'faulty');
}

/** Until somebody acts. */
const LEFT_ALONE = { supervision: 'needs_configuration', generation: 1, restart_count: 0 };

describe('a command that cannot be started', () => {
  it.each([
    ['is not there', { command: 'waygate-no-such-command' }, /"waygate-no-such-command" was not found/, 'spawn_enoent'],
    ['may not be run', { command: '/tmp' }, /The command "\/tmp" cannot be run/, 'spawn_eacces'],
  ])('because it %s is named, and is not tried again', async (_what, config, reason, code) => {
    const workspace = testWorkspace({
      faulty: { ...config, env: { TOKEN: 'not-to-be-told' } },
      other: servers.fixture(),
    });
    const host = await GatewaySession.connect(workspace);
    await host.toolId('/other/echo');
    const failed = await until('its reason', async () => {
      const faulty = (await status(workspace)).servers.find(({ name }) => name === 'faulty');
      return faulty?.state === 'failed' && faulty.reason;
    });
    expect(failed).toMatch(reason);
    expect(failed).not.toContain('not-to-be-told');
    const answer = await host.call('tool_execute', { tool_id: 'faulty:act', args: {} });
    expect(outcomeOf(answer)).toBe('not_dispatched');
    expect(await healthOfFaulty(workspace)).toMatchObject({ ...LEFT_ALONE, last_fault: { class: 'process', code } });
    const echo = { tool_id: 'other:echo', args: { text: 'undisturbed' } };
    expect(withoutIdNote(await host.call('tool_execute', echo)).text).toBe(UNDISTURBED);
  });
});

describe('a server that ends', () => {
  it.each([
    [
      'at its start, with a reason',
      [{ stderr: 200 }, { exit: 3 }],
      'start',
      /ended before it answered \(exit code 3\)/,
    ],
    ['within initialize', [{ exit: 0 }], 'initialize', /ended before it answered \(exit code 0\)/],
    ['within initialize, by SIGKILL', ['sigkill'], 'initialize', /ended before it answered \(SIGKILL\)/],
    ['in the middle of its answer', ['partial', 'sigkill'], 'initialize', /ended before it answered \(SIGKILL\)/],
    ['while it lists', ['partial', { exit: 1 }], 'tools/list', /ended before it answered \(exit code 1\)/],
  ] as const)('%s is told with how it ended, and the other serves', async (_what, actions, on, reason) => {
    const gateway = await FaultGateway.open(at(on, ...actions), { ready: false });
    const told = await until('its reason', async () => {
      const { state, reason: why } = await gateway.faulty();
      return state === 'failed' && why;
    });
    expect(told).toMatch(reason);
    expect(await gateway.other()).toBe(UNDISTURBED);
    expect(outcomeOf(await gateway.act('never'))).toBe('not_dispatched');
    expect(gateway.effects).toEqual([]);
    // A few tries, and then one a minute.
    await until(
      'the loop to be seen',
      async () => (await gateway.faulty()).reason !== undefined && gateway.lives.length === 5,
    );
    await new Promise((done) => setTimeout(done, 500));
    expect(gateway.lives).toHaveLength(5);
    expect(gateway.lives.filter(isAlive)).toEqual([]);
  });
});

describe('a server that refuses', () => {
  it.each([
    [
      'an error',
      { raw: '{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"no such client"}}' },
      /no such client/,
    ],
    [
      'a version that nobody knows',
      {
        raw: '{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"x","version":"1"}}}',
      },
      /^It uses an unsupported version of MCP \(1999-01-01\)\.$/,
    ],
    ['an answer that is no JSON', { raw: '{"jsonrpc":"2.0","id":ID,"result":{' }, /an answer that is not JSON/],
  ])('to be initialized with %s is told so at once', async (_what, action, reason) => {
    const gateway = await FaultGateway.open(at('initialize', action), { ready: false });
    const { reason: told } = await until('its reason', async () => {
      const faulty = await gateway.faulty();
      return faulty.state === 'failed' && faulty;
    });
    expect(told).toMatch(reason);
    expect(await gateway.other()).toBe(UNDISTURBED);
    await until('its end', () => gateway.lives.filter(isAlive).length === 0);
  });
});

describe('a server that answers initialize with an error', () => {
  it.each([-32000, -32001, -32603])('of code %i has refused: it is left alone until somebody acts', async (code) => {
    const raw = `{"jsonrpc":"2.0","id":ID,"error":{"code":${code},"message":"login failed"}}`;
    const gateway = await FaultGateway.open(at('initialize', { raw }), { ready: false });
    const { reason } = await until('its reason', async () => {
      const faulty = await gateway.faulty();
      return faulty.state === 'failed' && faulty;
    });
    expect(reason).toBe('It answered with an error: login failed.');
    expect(outcomeOf(await gateway.act('never'))).toBe('not_dispatched');
    await new Promise((done) => setTimeout(done, 1_000));
    expect(gateway.lives).toHaveLength(1);
    expect(await healthOfFaulty(gateway.workspace)).toMatchObject({
      ...LEFT_ALONE,
      last_fault: { class: 'protocol', code: 'initialize_refused' },
    });
  });
});

describe('a server that speaks no version that is known', () => {
  it('is left alone until its configuration changes', async () => {
    const result = { protocolVersion: '1999-01-01', capabilities: {}, serverInfo: { name: 'x', version: '1' } };
    const raw = `{"jsonrpc":"2.0","id":ID,"result":${JSON.stringify(result)}}`;
    const gateway = await FaultGateway.open(at('initialize', { raw }), { ready: false });
    await until('its reason', async () => (await gateway.faulty()).state === 'failed');
    expect(outcomeOf(await gateway.act('never'))).toBe('not_dispatched');
    expect(gateway.lives).toHaveLength(1);
    const health = await healthOfFaulty(gateway.workspace);
    expect(health).toMatchObject({ ...LEFT_ALONE, last_fault: { class: 'protocol', code: 'unsupported_version' } });
    expect(health).not.toHaveProperty('next_attempt_in_ms');
  });
});

describe('a server that ends while it lists again', () => {
  it('is told with how it ended, not as one that answered with an error', async () => {
    // Known from its first start, it is ready before it lists: what ends it there ends one that serves.
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
    ['before it reads', at('start', 'block')],
    ['within initialize', at('initialize', 'hang')],
    ['while it lists', at('tools/list', 'hang')],
  ])('%s holds up nobody, and a call to it ends at its own time limit, not sent', async (_what, script) => {
    const blocks = { timeouts: { servers: { faulty: 0.5 } } };
    const gateway = await FaultGateway.open(script, { ready: false, blocks });
    expect((await gateway.faulty()).state).toBe('starting');
    expect(await gateway.other()).toBe(UNDISTURBED);
    expect(outcomeOf(await gateway.act('never'))).toBe('not_dispatched');
    expect(gateway.effects).toEqual([]);
  });
});

describe('a server that gets ready in spite of', () => {
  it.each<[string, FaultScript]>([
    ['taking its time', at('initialize', { delay: 1_500 }, 'reply')],
    [
      'a banner, colours and bytes',
      at('start', { raw: '\u001b[1mHello\u001b[0m' }, { base64: 'AP/+Cg==' }, { flood: 'garbage', count: 50 }),
    ],
    ['a byte order mark', at('start', { base64: '77u/' })],
    ['five megabytes on stderr that nobody asked for', at('start', { stderr: 5_000_000 })],
    ['answering twice', at('initialize', 'reply', { raw: 'JSON' })],
    ['asking before it is initialized', at('start', { flood: 'ask', count: 3 })],
  ])('%s is used as any other', async (_what, script) => {
    const gateway = await FaultGateway.open(script);
    expect((await gateway.act('a')).text).toBe('ok\na\n');
    expect(await gateway.other()).toBe(UNDISTURBED);
    expect(gateway.lives).toHaveLength(1);
  });
});
