import { t } from '../l10n.ts';

/** Editor settings that can hide Waygate from the editor's agent. */

export interface AgentSettings {
  'chat.mcp.access': unknown;
  /** Name of `chat.mcp.access` before VS Code 1.105. */
  'chat.mcp.enabled': unknown;
  'chat.agent.enabled': unknown;
}

export const AGENT_SETTINGS = [
  'chat.mcp.access',
  'chat.mcp.enabled',
  'chat.agent.enabled',
] as const satisfies readonly (keyof AgentSettings)[];

export interface PolicyBlock {
  /** Setting to check; undefined if the editor lacks the API. */
  setting?: keyof AgentSettings;
  message: string;
}

/**
 * Returns the reason why the editor's agent cannot see Waygate, with the setting to check; undefined if the agent can
 * see it. Editors built on VS Code may accept no servers from extensions.
 */
export function policyBlock(settings: AgentSettings, acceptsServers = true): PolicyBlock | undefined {
  if (!acceptsServers) {
    return {
      message: t`This editor accepts no MCP servers from extensions: its agent sees Waygate only if you add Waygate to the editor's own MCP configuration.`,
    };
  }
  const access = settings['chat.mcp.access'];
  if (access === 'none') {
    return {
      setting: 'chat.mcp.access',
      message: t`Chats in this editor cannot see Waygate. The setting chat.mcp.access, which your organization may manage, is "none": this editor runs no MCP server at all.`,
    };
  }
  if (access === 'registry') {
    return {
      setting: 'chat.mcp.access',
      message: t`Chats in this editor cannot see Waygate. The setting chat.mcp.access, which your organization may manage, is "registry": this editor ignores MCP servers from extensions.`,
    };
  }
  if (settings['chat.mcp.enabled'] === false) {
    return {
      setting: 'chat.mcp.enabled',
      message: t`Chats in this editor cannot see Waygate. The setting chat.mcp.enabled, which your organization may manage, is off: this editor runs no MCP server at all.`,
    };
  }
  if (settings['chat.agent.enabled'] === false) {
    return {
      setting: 'chat.agent.enabled',
      message: t`Chats in this editor cannot see Waygate. The setting chat.agent.enabled, which your organization may manage, is off: this editor offers no tools to a chat.`,
    };
  }
  return undefined;
}
