import * as vscode from 'vscode';
import type { Environment, Surroundings } from '../configuration/environment.ts';
import { MCP_PROVIDER_ID } from '../contributions.ts';
import type { Observable } from '../observable.ts';
import type { LinkState } from './gatewayLink.ts';
import { type GatewaySeen, HeldVersion } from './heldVersion.ts';
import { debounced } from './pacing.ts';
import { type DefinitionData, serverDefinition } from './serverDefinition.ts';

/** VS Code requests the definitions with every event, unordered and without a delay of its own. */
const QUIET_MS = 300;

export interface Installation {
  distFolder: string;
  version: string;
}

/** Registers the bundled host with VS Code, which runs it with or without this extension. */
export function registerMcpProvider(
  installation: Installation,
  environment: Environment,
  gateway: Observable<LinkState>,
  log: vscode.LogOutputChannel,
): vscode.Disposable {
  // Editors built on VS Code may lack this part of its API.
  if (typeof vscode.lm?.registerMcpServerDefinitionProvider !== 'function') {
    log.warn('This editor accepts no MCP servers from extensions; use "waygate serve" in its own MCP configuration.');
    return new vscode.Disposable(() => undefined);
  }
  const written = ({ configuration }: Surroundings): void => {
    // Wait until both files are known: a single file has another hash.
    if (configuration.known) version.write(configuration.hash);
  };
  const version = new HeldVersion(undefined);
  written(environment.state.value);
  const definitionOf = (surroundings: Surroundings): DefinitionData | undefined =>
    serverDefinition({
      distFolder: installation.distFolder,
      workspace: surroundings.workspace,
      extensionVersion: installation.version,
      configurationHash: version.hash.value,
      nodePath: surroundings.nodePath,
      execPath: process.execPath,
    });
  const changed = new vscode.EventEmitter<void>();
  const announce = debounced(QUIET_MS, () => changed.fire());
  const relevant = (surroundings: Surroundings): string =>
    JSON.stringify([definitionOf(surroundings), surroundings.trusted]);
  let announced = relevant(environment.state.value);
  const announceIfChanged = (): void => {
    const now = relevant(environment.state.value);
    if (now === announced) return;
    announced = now;
    announce();
  };
  const watching = vscode.Disposable.from(
    environment.state.onChange((surroundings) => {
      written(surroundings);
      announceIfChanged();
    }),
    gateway.onChange((link) => version.see(seenOf(link))),
    version.hash.onChange(announceIfChanged),
    version,
  );
  const registration = vscode.lm.registerMcpServerDefinitionProvider(MCP_PROVIDER_ID, {
    onDidChangeMcpServerDefinitions: changed.event,
    // VS Code ignores a rejection and silently drops the server, so this never throws.
    provideMcpServerDefinitions: async () => {
      try {
        const surroundings = await environment.settled();
        written(surroundings);
        const data = definitionOf(surroundings);
        return data === undefined ? [] : [toDefinition(data)];
      } catch (error) {
        log.error('The MCP server could not be registered with the editor.', error);
        return [];
      }
    },
  });
  return vscode.Disposable.from(registration, watching, announce, changed);
}

function seenOf(link: LinkState): GatewaySeen | undefined {
  if (link.kind !== 'attached') return undefined;
  const { sessions, configuration } = link.snapshot;
  return { sessions: sessions.length, mode: configuration.mode };
}

function toDefinition(data: DefinitionData): vscode.McpStdioServerDefinition {
  const definition = new vscode.McpStdioServerDefinition(data.label, data.command, data.args, data.env, data.version);
  // Without it VS Code runs an extension's server in the home directory.
  definition.cwd = vscode.Uri.file(data.cwd);
  return definition;
}
