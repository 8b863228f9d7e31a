import * as vscode from 'vscode';
import { eventually } from '../harness/driver.ts';

/** Acts as the editor's agent, which calls Waygate's tools through the editor. */

const OURS = /^mcp_waygate_/;
/** The editor shows resources and prompts itself, so that no tools serve them. */
export const OUR_TOOLS = ['mcp_waygate_tool_browse', 'mcp_waygate_tool_execute', 'mcp_waygate_tool_view'];

export const ourTools = (): string[] =>
  vscode.lm.tools.map((tool) => tool.name).filter((name) => OURS.test(name) || /waygate/i.test(name));

/** Makes the editor start Waygate's server, and waits until it has listed at least this many tools. */
export function startedTools(least: number): Promise<string[]> {
  return eventually(
    'the tools',
    async () => {
      await vscode.commands.executeCommand('workbench.mcp.startServer', '*', { waitForLiveTools: true });
      return ourTools();
    },
    (seen) => seen.length >= least,
    60_000,
  );
}

export async function invoke(tool: string, input: object): Promise<string> {
  const result = await vscode.lm.invokeTool(`mcp_waygate_${tool}`, { input, toolInvocationToken: undefined });
  return result.content.map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : '')).join('');
}

export async function toolId(path: string): Promise<string> {
  const text = await eventually(
    `a tool at ${path}`,
    () => invoke('tool_browse', { path }),
    (seen) => seen.includes('(tool)'),
  );
  return /\] (\S+) \(tool\)/.exec(text)?.[1] as string;
}

/** Calls a tool by its path; returns the text of its answer. */
export async function call(path: string, args: object): Promise<string> {
  return invoke('tool_execute', { tool_id: await toolId(path), args });
}
