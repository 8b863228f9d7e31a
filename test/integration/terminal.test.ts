import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { status, waygate } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { until } from '../support/hostProcess.ts';
import { inTerminal } from '../support/inTerminal.ts';
import { servers, type TestWorkspace, testWorkspace, WAYGATE } from '../support/workspace.ts';

const ENTER = '\r';
const CONTROL_C = '\x03';
const CONTROL_D = '\x04';

/** Runs `waygate` in a terminal, and types when `asks` is shown. */
const waygateInTerminal = (
  { env, folder: cwd }: TestWorkspace,
  args: readonly string[],
  typed: string,
  asks?: RegExp,
) => inTerminal([process.execPath, WAYGATE, ...args], { env, cwd, typed, ...(asks && { asks }) });

async function approvals(workspace: TestWorkspace): Promise<string[]> {
  const { stdout } = await waygate(workspace, ['approve', '--json']);
  return (JSON.parse(stdout) as { servers: { state: string }[] }).servers.map(({ state }) => state);
}

describe('in a terminal', () => {
  it.each([
    ['y', `y${ENTER}`],
    ['Yes', `Yes${ENTER}`],
  ])('waygate approve approves below the command, if the user types %s', async (_, typed) => {
    const workspace = testWorkspace();
    workspace.write('.vscode/waygate.json', JSON.stringify({ servers: { one: servers.fixture() } }));
    const { code, text } = await waygateInTerminal(workspace, ['approve', 'one'], typed);
    expect(text).toMatch(/^"one" \(not approved, hash \w{8}\)\n(.*\n)+Approve "one"\? \[y\/N\] /m);
    expect(text).toContain('Approved 1 server for ');
    expect([code, await approvals(workspace)]).toEqual([0, ['approved']]);
  });

  it.each([
    ['only Enter', ENTER],
    ['n', `n${ENTER}`],
    ['a word that begins like yes', `yesterday${ENTER}`],
    ['Control-C', CONTROL_C],
    ['Control-D', CONTROL_D],
  ])('waygate approve approves nothing, if the user types %s', async (_, typed) => {
    const workspace = testWorkspace();
    workspace.write('.vscode/waygate.json', JSON.stringify({ servers: { one: servers.fixture() } }));
    const { code } = await waygateInTerminal(workspace, ['approve', 'one'], typed);
    expect([code, await approvals(workspace)]).toEqual([1, ['not approved']]);
  });

  it('waygate serve says what it is, and Control-C ends it', async () => {
    const asks = /waits for a client on its standard input\. Clients start it themselves .* Ctrl-C ends it\./;
    const { text } = await waygateInTerminal(testWorkspace({}), ['serve'], CONTROL_C, asks);
    // Only protocol goes to stdout, and nobody has sent any.
    expect(text.split('\n').filter((line) => line !== '' && !/^(?:\^C)?waygate: |^\^C$/.test(line))).toEqual([]);
  });

  it('waygate trust accept accepts what it shows, if the user types y, and nothing after Enter', async () => {
    const workspace = testWorkspace();
    const list = (description: string): string =>
      workspace.write('listing.json', JSON.stringify({ tools: [{ name: 'note', description, inputSchema: {} }] }));
    const args = [resolve('test/fixtures/changingServer.mjs'), list('Keeps a note.'), workspace.write('calls.txt', '')];
    workspace.configure({ one: { command: process.execPath, args } });
    const session = await GatewaySession.connect(workspace);
    const announce = await session.toolId('/one/announce');
    list('Burns a note.');
    await session.call('tool_execute', { tool_id: announce, args: {} });
    const held = async (): Promise<number> => ((await status(workspace)).servers[0]?.held ?? []).length;
    await until('the change', async () => (await held()) === 1);

    const closed = await waygateInTerminal(workspace, ['trust', 'accept', 'one'], ENTER);
    expect([closed.code, await held()]).toEqual([1, 1]);
    const accepted = await waygateInTerminal(workspace, ['trust', 'accept', 'one'], `y${ENTER}`);
    expect(accepted.text).toMatch(/Burns a note\.(.*\n)+Accept 1 item as shown\? \[y\/N\] /);
    expect([accepted.code, await held()]).toEqual([0, 0]);
  });
});
