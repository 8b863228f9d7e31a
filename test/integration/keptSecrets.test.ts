import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { FileSecrets } from '../../src/config/state/fileSecrets.ts';
import { stateFolder, waygate } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { until } from '../support/hostProcess.ts';
import { startHttpServer } from '../support/httpServer.ts';
import { type TestWorkspace, testWorkspace, WAYGATE } from '../support/workspace.ts';

const PROGRAM = resolve('test/fixtures/leakyServer.mjs');
/** Values without a recognisable pattern: only the configuration says that they are secret. */
const KEPT = 'Zq7-secret-kept-4411';
const ODD = 'a+b/(c)*[d]?"e"\\f g';
const INPUT = 'Vn2 typed in by hand';
const IN_CLEAR = 'Kx9-plain-in-env-7722';
const ARGUMENT = 'Wm4-behind-a-flag-1313';
const HEADER = 'Hd5-in-a-header-9090';
/** Longer than the part of an error that is shown. */
const LONG = `Lg8-${'an opaque token of many words '.repeat(20)}-end-of-it`;
const VALUES = [LONG, KEPT, ODD, INPUT, IN_CLEAR, ARGUMENT, HEADER];
const FORMS = VALUES.flatMap((value) => [
  value,
  JSON.stringify(value).slice(1, -1),
  encodeURIComponent(value),
  // The last character also encodes bits of the next byte.
  Buffer.from(value).toString('base64').replace(/.?=*$/, ''),
  Buffer.from(`user:${value}`).toString('base64').slice(7).replace(/.?=*$/, ''),
]);
/** Parts of a secret, which must not appear either. */
const HALVES = VALUES.flatMap((value) => [value.slice(0, 10), value.slice(-10)]);
/** Not secret, so it appears. */
const ZONE = 'production-eu';

/** Time limit: the test starts some thirty processes on a machine that may be busy. */
const LIMIT_MS = 120_000;

async function setSecret({ env, folder: cwd }: TestWorkspace, name: string, value: string): Promise<void> {
  const child = spawn(process.execPath, [WAYGATE, 'secret', 'set', name], { env, cwd });
  child.stdin.end(`${value}\n`);
  expect(await text(child.stdout)).toMatch(/^Set /);
}

/** Returns all texts in which Waygate reports on its servers, by place. */
async function reportsOn(workspace: TestWorkspace, host: GatewaySession): Promise<Record<string, string>> {
  const read = (name: string) => readFileSync(join(stateFolder(workspace), name), 'utf8');
  const command = async (...args: string[]) => (await waygate(workspace, args)).stdout;
  const resource = async (uri: string) => JSON.stringify((await host.request('resources/read', { uri })).result);
  const browsed = async (args: object) => JSON.stringify(await host.call('tool_browse', { ...args }));
  return {
    tool_browse: await browsed({ path: '/' }),
    'tool_browse as JSON': await browsed({ path: '/', render: 'json' }),
    'tool_browse of a query': await browsed({ query: 'log in' }),
    'waygate://health': await resource('waygate://health'),
    'waygate://health as JSON': await resource('waygate://health?render=json'),
    'waygate://telemetry': await resource('waygate://telemetry'),
    'waygate://telemetry as JSON': await resource('waygate://telemetry?render=json'),
    'waygate health': await command('health'),
    'waygate health --json': await command('health', '--json'),
    'waygate telemetry': await command('telemetry'),
    'waygate telemetry --json': await command('telemetry', '--json'),
    'waygate status': await command('status'),
    'waygate status --json': await command('status', '--json'),
    'events.jsonl': read('events.jsonl'),
    'worker.log': read('worker.log'),
  };
}

it(
  'masks the secrets of servers in every report, wherever servers repeat them',
  async () => {
    const { url } = await startHttpServer(PROGRAM, ['http']);
    const leaky = (how: string, ...args: string[]) => ({
      command: process.execPath,
      args: [PROGRAM, how, ...args, '--password', ARGUMENT],
      env: {
        GIVEN_KEPT: '${secret:db}',
        GIVEN_ODD: '${secret:odd}',
        GIVEN_INPUT: '${input:typed}',
        GIVEN_PASSWORD: IN_CLEAR,
        GIVEN_ZONE: '${input:zone}',
      },
    });
    const workspace = testWorkspace();
    const config = {
      inputs: [
        { id: 'typed', type: 'promptString', description: 'typed', password: true },
        { id: 'zone', type: 'promptString', description: 'zone' },
      ],
      servers: {
        refuses: leaky('refuses'),
        dies: leaky('dies', '${secret:long}'),
        serves: leaky('serves'),
        once: leaky('once'),
        web: { url, headers: { 'X-Api-Key': '${secret:long}', Authorization: `Bearer ${HEADER}` } },
      },
    };
    workspace.write('.vscode/waygate.json', JSON.stringify(config));
    workspace.approve();
    await setSecret(workspace, 'db', KEPT);
    const others = { odd: ODD, long: LONG, 'input:typed': INPUT, 'input:zone': ZONE };
    const kept = new FileSecrets(workspace.stateDir, workspace.folder);
    for (const [name, value] of Object.entries(others)) kept.set(name, value);

    const host = await GatewaySession.connect(workspace);
    const reports: Record<string, string> = {};
    for (const name of ['fails', 'refuses', 'crashes']) {
      const tool_id = await host.toolId(`/serves/${name}`);
      for (const render of ['porcelain', 'json']) {
        const answer = await host.call('tool_execute', { tool_id, args: {}, render });
        expect(answer.isError).toBe(true);
        reports[`tool_execute of ${name} as ${render}`] = JSON.stringify(answer);
      }
    }
    await host.call('tool_execute', { tool_id: await host.toolId('/once/crashes'), args: {} });
    const lost = await host.call('tool_execute', { tool_id: await host.toolId('/once/answers'), args: {} });
    reports['tool_execute of a server that no longer starts'] = JSON.stringify(lost);
    expect(lost.text).toContain('It said: Error: cannot reach db with [REDACTED-SECRET]');
    await until('the failure of the others', async () => {
      const { structured } = await host.call('tool_browse', { path: '/', render: 'json' });
      const states = structured?.servers as { name: string; state: string }[];
      return ['refuses', 'dies', 'web'].every((one) =>
        states.some(({ name, state }) => name === one && state === 'failed'),
      );
    });
    Object.assign(reports, await reportsOn(workspace, host));

    const leaks = Object.entries(reports).flatMap(([where, words]) =>
      [...FORMS, ...HALVES]
        .filter((form) => words.includes(form) || words.includes(JSON.stringify(form).slice(1, -1)))
        .map((form) => `${where}: ${form}`),
    );
    expect(leaks).toEqual([]);
    // Only secrets are masked.
    for (const where of ['worker.log', 'tool_browse', 'waygate://health', 'waygate status']) {
      expect(reports[where]).toContain('cannot log in with [REDACTED-SECRET]');
    }
    expect(reports['tool_execute of fails as porcelain']).toContain(`it is [REDACTED-SECRET]`);
    expect(reports['tool_execute of fails as porcelain']).toContain(ZONE);
    expect(reports['waygate status --json']).toContain('Error: cannot reach db with [REDACTED-SECRET]');
    const events = reports['events.jsonl'] as string;
    expect(events).toContain('It refused to be initialized (protocol/initialize_refused).');
    expect(events).toContain('It exited unexpectedly (process/exited).');
    // Events contain no text from servers, masked or not.
    for (const words of ['REDACTED', 'log in', 'cannot reach', 'lost it', 'no access', ZONE]) {
      expect(events).not.toContain(words);
    }
  },
  LIMIT_MS,
);

it('masks secrets in results and in views of them if the configuration asks for it', async () => {
  const workspace = testWorkspace();
  const answering = { command: process.execPath, args: [PROGRAM, 'serves'], env: { GIVEN_KEPT: '${secret:db}' } };
  const write = (artifacts: object) => {
    workspace.write('.vscode/waygate.json', JSON.stringify({ artifacts, servers: { answering } }));
    workspace.approve();
  };
  write({ maskSecrets: 'always' });
  await setSecret(workspace, 'db', KEPT);
  const host = await GatewaySession.connect(workspace);
  const tool_id = await host.toolId('/answering/answers');
  const { text: shown, structured } = await host.call('tool_execute', { tool_id, args: {}, render: 'json' });
  expect(shown).toContain('it is [REDACTED-SECRET]');
  const { artifacts } = structured as { artifacts: [{ handle: string }] };
  const viewed = await host.call('tool_view', { handle: artifacts[0].handle, selector: { type: 'head' } });
  expect(viewed.text).toContain('it is [REDACTED-SECRET]');
  expect(JSON.stringify([shown, structured, viewed])).not.toContain(KEPT);
});

it("masks secrets in errors of the user's own server in passthrough mode, whatever the workspace says", async () => {
  const workspace = testWorkspace();
  const leaky = { command: process.execPath, args: [PROGRAM, 'serves'], env: { GIVEN_KEPT: '${secret:db}' } };
  writeFileSync(workspace.userConfigFile, JSON.stringify({ servers: { leaky } }));
  workspace.write('.vscode/waygate.json', JSON.stringify({ mode: 'passthrough', artifacts: { maskSecrets: 'never' } }));
  await setSecret(workspace, 'db', KEPT);
  const host = await GatewaySession.connect(workspace);
  const answers = [
    await host.request('tools/call', { name: 'fails', arguments: {} }),
    await host.request('tools/call', { name: 'refuses', arguments: {} }),
    await host.request('resources/read', { uri: 'test://one' }),
  ];
  expect(answers.map((one) => JSON.stringify(one).match(/(it is|log in with) .REDACTED/)?.[1])).toEqual([
    'it is',
    'log in with',
    'log in with',
  ]);
  expect(JSON.stringify(answers)).not.toContain(KEPT);
  // Other results pass unchanged by default.
  expect(JSON.stringify(await host.request('tools/call', { name: 'answers', arguments: {} }))).toContain(KEPT);
});

it.each([
  ['gateway', 'tool_execute'],
  ['passthrough', 'logs'],
])('masks secrets in log messages of a server to its clients, in %s mode', async (mode, name) => {
  const workspace = testWorkspace();
  const env = { GIVEN_KEPT: '${secret:db}', GIVEN_PASSWORD: IN_CLEAR, GIVEN_ZONE: ZONE };
  const leaky = { command: process.execPath, args: [PROGRAM, 'serves'], env };
  workspace.write('.vscode/waygate.json', JSON.stringify({ servers: { leaky } }));
  workspace.approve();
  await setSecret(workspace, 'db', KEPT);
  const browsing = await GatewaySession.connect(workspace);
  const tool_id = await browsing.toolId('/leaky/logs');
  const host = await GatewaySession.connect(workspace, ['--mode', mode]);
  await host.call(name, name === 'logs' ? {} : { tool_id, args: {} });
  const log = await until('the log', () => host.notifications.find(({ method }) => method === 'notifications/message'));
  const words = JSON.stringify(log);
  expect(FORMS.filter((form) => words.includes(form))).toEqual([]);
  expect(log.params).toMatchObject({
    level: 'info',
    logger: '[REDACTED-SECRET]',
    data: {
      given: ['[REDACTED-SECRET]', '[REDACTED-SECRET]', ZONE],
      '[REDACTED-SECRET]': { password: '[REDACTED-SECRET]' },
    },
  });
});
