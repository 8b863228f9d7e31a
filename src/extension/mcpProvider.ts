import * as vscode from 'vscode';
import { MCP_PROVIDER_ID } from './contributions.ts';
import type { Environment, Surroundings } from './environment.ts';
import { debounced } from './pacing.ts';
import { type DefinitionData, serverDefinition } from './serverDefinition.ts';

/** VS Code asks for the definitions with every event, in no order and without a pause of its own. */
const QUIET_MS = 300;

export interface Installation {
  distFolder: string;
  version: string;
}

/** Tells VS Code of the bundled host. VS Code runs it by itself, with or without this extension. */
export function registerMcpProvider(
  installation: Installation,
  environment: Environment,
  log: vscode.LogOutputChannel,
): vscode.Disposable {
  // Editors built on VS Code need not have this part of its API.
  if (typeof vscode.lm?.registerMcpServerDefinitionProvider !== 'function') {
    log.warn('This editor takes no MCP servers from extensions; use "waygate serve" in its own MCP configuration.');
    return new vscode.Disposable(() => undefined);
  }
  const definitionOf = (surroundings: Surroundings): DefinitionData | undefined =>
    serverDefinition({
      distFolder: installation.distFolder,
      workspace: surroundings.workspace,
      extensionVersion: installation.version,
      configurationHash: surroundings.configuration.hash,
      nodePath: surroundings.nodePath,
      execPath: process.execPath,
    });
  const changed = new vscode.EventEmitter<void>();
  const announce = debounced(QUIET_MS, () => changed.fire());
  const relevant = (surroundings: Surroundings): string =>
    JSON.stringify([definitionOf(surroundings), surroundings.trusted]);
  let announced = relevant(environment.state.value);
  const watching = environment.state.onChange((surroundings) => {
    const now = relevant(surroundings);
    if (now === announced) return;
    announced = now;
    announce();
  });
  const registration = vscode.lm.registerMcpServerDefinitionProvider(MCP_PROVIDER_ID, {
    onDidChangeMcpServerDefinitions: changed.event,
    // VS Code swallows a rejection and drops the server without a word, so this never throws.
    provideMcpServerDefinitions: async () => {
      try {
        const data = definitionOf(await environment.settled());
        return data === undefined ? [] : [toDefinition(data)];
      } catch (error) {
        log.error('The MCP server could not be offered to the editor.', error);
        return [];
      }
    },
  });
  return vscode.Disposable.from(registration, watching, announce, changed);
}

function toDefinition(data: DefinitionData): vscode.McpStdioServerDefinition {
  const definition = new vscode.McpStdioServerDefinition(data.label, data.command, data.args, data.env, data.version);
  // Without it VS Code runs the server of an extension in the home directory.
  definition.cwd = vscode.Uri.file(data.cwd);
  return definition;
}
