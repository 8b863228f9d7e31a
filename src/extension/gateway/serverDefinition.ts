import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { EXTENSION_TITLE } from '../contributions/contributions.ts';

/** Inputs of the MCP server definition, which the editor stores in clear text. */
export interface DefinitionInputs {
  /** Folder of the bundles. */
  distFolder: string;
  /** The first local workspace folder. */
  workspace: string | undefined;
  extensionVersion: string;
  /** Hash of the configuration's bytes; undefined without a configuration. */
  configurationHash: string | undefined;
  /** The setting, empty by default. */
  nodePath: string;
  /** The editor's own Node. */
  execPath: string;
}

export interface DefinitionData {
  label: string;
  command: string;
  args: string[];
  env: Record<string, string>;
  version: string;
  cwd: string;
}

/**
 * The definition alone must be enough to start the host, without this extension. Nothing in it may be secret or change
 * without need: a definition that differs in anything stops the server that runs. Undefined when there is nothing to
 * open a door to: three tools without a server behind them would only cost the agent's attention.
 */
export function serverDefinition(inputs: DefinitionInputs): DefinitionData | undefined {
  if (inputs.workspace === undefined || inputs.configurationHash === undefined) return undefined;
  return {
    label: EXTENSION_TITLE,
    command: nodeExecutable(inputs),
    args: [hostScript(inputs.distFolder), 'serve'],
    // Set by the extension host as well, but not where the editor's agent host starts the server.
    env: { ELECTRON_RUN_AS_NODE: '1' },
    // The editor keeps a server's tools by its version, and stops a server that runs when it changes: see HeldVersion.
    version: `${inputs.extensionVersion}+${inputs.configurationHash}`,
    cwd: inputs.workspace,
  };
}

export function nodeExecutable({ nodePath, execPath }: Pick<DefinitionInputs, 'nodePath' | 'execPath'>): string {
  return nodePath.trim() || execPath;
}

export function hostScript(distFolder: string): string {
  return join(distFolder, 'waygate.cjs');
}

export function workerScript(distFolder: string): string {
  return join(distFolder, 'worker.cjs');
}

export function configurationHash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 12);
}
