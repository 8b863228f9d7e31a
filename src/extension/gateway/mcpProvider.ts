import * as vscode from 'vscode';
import { acceptsServers } from '../configuration/environment.ts';
import { MCP_PROVIDER_ID } from '../contributions.ts';
import { type Disposable, onChangeOfAny, type Watchable } from '../observable.ts';
import type { HeldDefinition } from './heldDefinition.ts';
import { debounced } from './pacing.ts';
import { providerOf, RECORDS_LABEL, TOKEN_VARIABLE } from './recordsDefinition.ts';
import type { RecordsServer } from './recordsServer.ts';
import type { RecordTokens } from './recordTokens.ts';
import type { DefinitionData } from './serverDefinition.ts';

/** VS Code requests the definitions with every event, unordered and without a delay of its own. */
const QUIET_MS = 300;

/** Registers the bundled host with VS Code, once for each folder. VS Code runs it with or without this extension. */
export function registerMcpProvider(
  folders: Watchable<readonly { definition: HeldDefinition }[]>,
  records: RecordsServer,
  log: vscode.LogOutputChannel,
): Disposable {
  // The views say so (see `policyBlock`).
  if (!acceptsServers()) return new vscode.Disposable(() => undefined);
  const changed = new vscode.EventEmitter<void>();
  const announce = debounced(QUIET_MS, () => changed.fire());
  const watching = onChangeOfAny(folders, ({ definition }) => definition.state, announce);
  const watchingRecords = records.definition.onChange(announce);
  const definitionOf = async (definition: HeldDefinition): Promise<vscode.McpStdioServerDefinition[]> => {
    try {
      const data = await definition.settled();
      return data === undefined ? [] : [toDefinition(data)];
    } catch (error) {
      // VS Code ignores a rejection and silently drops the server, so this never throws.
      log.error('The MCP server could not be registered with the editor.', error);
      return [];
    }
  };
  const registration = vscode.lm.registerMcpServerDefinitionProvider(MCP_PROVIDER_ID, {
    onDidChangeMcpServerDefinitions: changed.event,
    provideMcpServerDefinitions: async () => {
      const { value: data } = records.definition;
      const gateways = await Promise.all(folders.value.map(({ definition }) => definitionOf(definition)));
      return [...gateways.flat(), ...(data === undefined ? [] : [toDefinition(data)])];
    },
    // VS Code calls this when it is about to start a server.
    resolveMcpServerDefinition: async (server: vscode.McpStdioServerDefinition) => {
      if (server.label === RECORDS_LABEL) return withToken(server, records.tokens);
      folders.value.find(({ definition }) => definition.label === server.label)?.definition.starting(server.version);
      return server;
    },
  });
  return vscode.Disposable.from(registration, watching, watchingRecords, announce, changed);
}

/**
 * Adds the token to the environment of the process that the editor is about to start. Without one, the server looks into
 * its own credential cache.
 */
async function withToken(
  server: vscode.McpStdioServerDefinition,
  tokens: Pick<RecordTokens, 'tokenFor'>,
): Promise<vscode.McpStdioServerDefinition> {
  const url = providerOf(server.args);
  const token = url === undefined ? undefined : await tokens.tokenFor(url);
  if (token === undefined) return server;
  const { label, command, args, env, version } = server;
  return new vscode.McpStdioServerDefinition(label, command, args, { ...env, [TOKEN_VARIABLE]: token }, version);
}

function toDefinition(data: DefinitionData): vscode.McpStdioServerDefinition {
  const definition = new vscode.McpStdioServerDefinition(data.label, data.command, data.args, data.env, data.version);
  // Without it VS Code runs an extension's server in the home directory.
  if (data.cwd !== undefined) definition.cwd = vscode.Uri.file(data.cwd);
  return definition;
}
