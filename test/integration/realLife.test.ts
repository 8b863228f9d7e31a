import { describe, expect, it } from 'vitest';
import { waygate } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { until } from '../support/hostProcess.ts';
import { servers, testWorkspace } from '../support/workspace.ts';

describe('a real server', () => {
  it('returns its structured content with render: json', async () => {
    const host = await GatewaySession.connect(testWorkspace({ everything: servers.everything }));
    const id = await host.toolId('/everything/get-structured-content');
    const run = (render: string) => host.call('tool_execute', { tool_id: id, args: { location: 'Chicago' }, render });
    const { structured, content } = await run('json');
    expect(structured?.structuredContent).toMatchObject({
      temperature: expect.any(Number),
      humidity: expect.any(Number),
    });
    expect(JSON.parse((content[0] as { text: string }).text)).toMatchObject({ structuredContent: expect.any(Object) });
    expect((await run('porcelain')).structured).toBeUndefined();
  });

  it('that is no MCP server is reported with the first line that it printed', async () => {
    const usage = 'console.log("\\u001b[31mUsage: tool\\u001b[0m [options]\\n  --help")';
    const workspace = testWorkspace({ tool: { command: process.execPath, args: ['-e', usage] } });
    const host = await GatewaySession.connect(workspace);
    await until('the failure', async () =>
      (await host.call('tool_browse', { path: '/' })).text.includes('Usage: tool'),
    );
    const { text } = await host.call('tool_browse', { path: '/' });
    expect(text).toMatch(/exit code 0.*It printed, where MCP messages belong: .*Usage: tool.*\[options\]/);
    expect(text).not.toContain('--help');
    expect(text).not.toContain('\u001b');
  });

  it('with a secret in clear is a warning for the user, and none for the model', async () => {
    const workspace = testWorkspace({ one: { ...servers.fixture(), env: { API_TOKEN: `ghp_${'a1'.repeat(18)}` } } });
    const host = await GatewaySession.connect(workspace);
    await host.toolId('/one/echo');
    const shown = await host.call('tool_browse', { path: '/one' });
    const asJson = await host.call('tool_browse', { path: '/one', render: 'json' });
    expect(shown.text + asJson.text).not.toContain('in clear');
    const { stdout } = await waygate(workspace, ['status']);
    expect(stdout).toContain('looks like a secret in clear');
  });
});
