import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rendezvous, status, waygate } from '../support/census.ts';
import { HostProcess, until } from '../support/hostProcess.ts';
import { shared } from '../support/lifetime.ts';
import { servers, temporaryFolder, testWorkspace } from '../support/workspace.ts';

/** Covers `waygate serve --catalog FILE`: a gateway with the lists of a file and canned answers (G10.10). */

const CATALOG = {
  _source: 'somebody else’s',
  tools: [
    {
      name: 'github.create_issue',
      description: 'Create an issue.',
      inputSchema: { type: 'object', properties: { title: { type: 'string' } } },
    },
    { name: 'weather.get', description: 'The weather.', inputSchema: { type: 'object' }, result: 'Sunny.' },
    {
      id: 'billing.refund',
      name: 'Refund',
      namespace: 'billing',
      description: 'Pay back.',
      args_schema: { type: 'object', properties: {} },
    },
  ],
  resources: [
    { uri: 'file:///docs/readme.md', name: 'README', mimeType: 'text/markdown', text: '# Read me' },
    { uri: 'file:///docs/other.md', name: 'Other' },
  ],
  prompts: [{ name: 'summarize_pr', description: 'Summarize.', arguments: [{ name: 'repo', required: true }] }],
};

const YAML = `
tools:
  - name: github.create_issue
    description: Create an issue.
    inputSchema: {type: object, properties: {title: {type: string}}}
`;

function file(text: string, name = 'catalog.json'): string {
  const path = join(temporaryFolder('waygate-catalog-'), name);
  writeFileSync(path, text);
  return path;
}

describe('a static catalog', () => {
  const served = shared(async () => {
    const catalog = file(JSON.stringify(CATALOG));
    const workspace = testWorkspace();
    return { catalog, workspace, host: await HostProcess.connect(workspace, ['--catalog', catalog]) };
  });

  it('runs as a separate gateway, which every command addresses by the same file', async () => {
    const catalog = file(JSON.stringify(CATALOG));
    const workspace = testWorkspace({ one: servers.fixture() });
    const run = (...args: string[]) => waygate(workspace, [...args, '--catalog', catalog]);
    const none = `No gateway runs for ${workspace.folder} with ${catalog}.\n`;
    for (const command of ['status', 'health', 'telemetry', 'reload', 'stop'])
      expect((await run(command)).stdout).toBe(none);
    const host = await HostProcess.connect(workspace, ['--catalog', catalog]);
    await host.toolId('/weather/get');
    expect((await run('status')).stdout).toMatch(/\ncatalog {2}3 tools of 5 servers\n/);
    expect((await run('health')).stdout).toMatch(/^gateway ready, /);
    expect((await run('telemetry')).stdout).toMatch(/^\d+ requests? in /);
    expect((await run('catalog')).stdout).toContain('  /weather/get  The weather.\n');
    expect((await run('browse', '/weather')).stdout).toContain('weather:get');
    const [, pid] = /^Reloaded .* \(pid (\d+), previously \d+\)\.\n$/.exec((await run('reload')).stdout) ?? [];
    // The workspace's own gateway does not run.
    expect(await status(workspace)).toMatchObject({ worker: null });
    expect((await run('stop')).stdout).toBe(`Stopped the gateway of ${workspace.folder} (pid ${pid}).\n`);
    const gone = join(workspace.folder, 'gone.json');
    expect((await waygate(workspace, ['status', '--catalog', gone])).stdout).toContain(`with ${gone}.\n`);
    expect(await waygate(workspace, ['browse', '/', '--catalog', gone])).toMatchObject({
      code: 66,
      stderr: `waygate: there is no catalog file ${gone}; name one with --catalog.\n`,
    });
    expect((await waygate(workspace, ['client-config', 'zed', '--catalog', catalog])).stdout).toContain('"--catalog"');
  });

  it('is browsed and executed like any other catalog, without servers', async () => {
    const { host } = served();
    const id = await host.toolId('/github/create_issue');
    expect(id).toMatch(/^github:create_issue#/);
    const answer = await host.call('tool_execute', { tool_id: id, args: { title: 'x' } });
    expect(answer.text).toContain('Stub answer of github.create_issue, called with title.');
    const weather = await host.toolId('/weather/get');
    expect((await host.call('tool_execute', { tool_id: weather, args: {} })).text).toContain('Sunny.');
    expect(await host.toolId('/billing/refund')).toMatch(/^billing:refund#/);
    const bad = await host.call('tool_execute', { tool_id: id, args: { title: 7 } });
    expect(bad.text).toMatch(/^Error ARGS_INVALID/);
  });

  it('serves its resources and prompts', async () => {
    const { catalog, workspace } = served();
    const host = await HostProcess.connect(workspace, ['--catalog', catalog, '--mode', 'passthrough']);
    const read = async (uri: string) => (await host.request('resources/read', { uri })).result?.contents;
    expect(await read('file:///docs/readme.md')).toEqual([
      { uri: 'file:///docs/readme.md', mimeType: 'text/markdown', text: '# Read me' },
    ]);
    expect(await read('file:///docs/other.md')).toEqual([
      { uri: 'file:///docs/other.md', text: 'Stub content of file:///docs/other.md.' },
    ]);
    const prompts = (await host.request('prompts/list')).result?.prompts as { name: string }[];
    const name = prompts[0]?.name as string;
    expect(name).toMatch(/__summarize_pr$/);
    const { result } = await host.request('prompts/get', { name, arguments: { repo: 'waygate' } });
    expect(JSON.stringify(result)).toContain('repo: waygate');
  });

  it("does not affect the workspace's own gateway", async () => {
    const workspace = testWorkspace({ one: servers.fixture() });
    const own = await HostProcess.connect(workspace);
    await own.toolId('/one/echo');
    const before = rendezvous(workspace)?.pid;
    const host = await HostProcess.connect(workspace, ['--catalog', file(JSON.stringify(CATALOG))]);
    await host.toolId('/github/create_issue');
    expect(rendezvous(workspace)?.pid).toBe(before);
    expect((await status(workspace)).servers.map(({ name }) => name)).toEqual(['one']);
    expect(await own.toolId('/one/echo')).toMatch(/^one:echo#/);
  });

  it('applies when it changes, and keeps its last good version while it is broken', async () => {
    const catalog = file(JSON.stringify(CATALOG));
    const host = await HostProcess.connect(testWorkspace(), ['--catalog', catalog]);
    await host.toolId('/weather/get');
    writeFileSync(catalog, '{"tools": [');
    await until('the problem', async () => (await host.call('tool_browse', { path: '/' })).text.includes('line 1'));
    expect(await host.toolId('/weather/get')).toMatch(/^weather:get#/);
    writeFileSync(catalog, YAML);
    await until('the change', async () => (await host.call('tool_browse', { path: '/weather' })).isError);
  });

  it('that is invalid is reported in one sentence with its line', async () => {
    const catalog = file('tools:\n  - name: a\n    inputSchema: {type: object}\n  - nome: b\n', 'catalog.yaml');
    const host = await HostProcess.connect(testWorkspace(), ['--catalog', catalog]);
    const { error } = await host.request('prompts/list');
    expect(error?.message).toContain(`${catalog}:4:5: a tool needs a "name".`);
    host.end();
    expect(await host.exited).toBe(69);
  });

  it('that does not exist is refused', async () => {
    const answer = await waygate(testWorkspace(), ['serve', '--catalog', '/nowhere.json']);
    expect(answer).toMatchObject({
      code: 66,
      stderr: expect.stringMatching(/^waygate: there is no catalog file \/nowhere\.json; .*\n$/),
    });
  });
});
