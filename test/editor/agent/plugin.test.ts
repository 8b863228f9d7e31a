import { expect, it } from 'vitest';
import { waygate } from '../../support/census.ts';
import type { OfferedTool } from '../../support/model/scriptedModel.ts';
import { servers, testWorkspace } from '../../support/workspace.ts';
import { AgentWindow } from './agentWindow.ts';

/** The Agent Plugin in Copilot's agent mode of an ordinary window, without the extension. */

function nameOf(tools: readonly OfferedTool[], end: string): string {
  const found = tools.find(({ name }) => name.endsWith(end))?.name;
  if (!found) throw new Error(`The model is not offered ${end}: ${tools.map(({ name }) => name).join(' ')}`);
  return found;
}

it('brings VS Code the three tools and the skill, by the setting that waygate plugin install prints', async () => {
  const workspace = testWorkspace({ one: servers.fixture() });
  const { settings } = JSON.parse((await waygate(workspace, ['plugin', 'install', 'vscode', '--json'])).stdout);
  const window = await AgentWindow.open(workspace, { plugin: settings });
  // VS Code asks before the first start of any server of a plugin: "Start it now?".
  await window.turn([() => []]);
  await window.command('workbench.mcp.startServer', '*', { autoTrustChanges: true, waitForLiveTools: true });
  const turn = await window.turn([
    ({ tools }) => ({ tool: nameOf(tools, 'tool_browse'), args: { path: '/' } }),
    () => [],
  ]);
  const [first, browsed] = turn.readings;
  const tools = first?.tools ?? [];
  for (const end of ['tool_browse', 'tool_execute', 'tool_view']) expect(nameOf(tools, end)).toBeTruthy();
  expect(JSON.stringify(first)).toContain('mcp-bootstrap');
  // VS Code starts it in the home folder, so the plugin serves the user's own servers.
  expect(browsed?.results.join('')).toMatch(/^\/: 0 entries, 0 tools\./);
});
