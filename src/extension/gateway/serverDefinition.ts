import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { EXTENSION_TITLE } from '../contributions.ts';
import { FIRST_NAME } from '../folders/gatewayNames.ts';

/** Inputs of the MCP server definition, which the editor stores in clear text. */
export interface DefinitionInputs {
  /** Folder of the bundles. */
  distFolder: string;
  /** Name of the folder's gateway, see `gatewayNames`. */
  name: string;
  /** Folder of the workspace on a real disk. */
  workspace: string | undefined;
  extensionVersion: string;
  /** Hash of the configuration's bytes; undefined without a configuration. */
  configurationHash: string | undefined;
  /** Setting `waygate.nodePath`, empty by default. */
  nodePath: string;
  /** Node of the editor. */
  execPath: string;
}

export interface DefinitionData {
  label: string;
  command: string;
  args: string[];
  env: Record<string, string>;
  version: string;
  /** Folder of the process; the home folder by default. */
  cwd?: string;
}

/**
 * Builds the definition with which the editor starts the host, also without this extension. Contains no secret, and
 * nothing that changes without need: any difference stops the running server. Undefined without a configuration,
 * because three tools without servers would only distract the agent.
 */
export function serverDefinition(inputs: DefinitionInputs): DefinitionData | undefined {
  if (inputs.workspace === undefined || inputs.configurationHash === undefined) return undefined;
  const isFirst = inputs.name === FIRST_NAME;
  return {
    label: serverLabel(inputs.name),
    command: nodeExecutable(inputs),
    args: [hostScript(inputs.distFolder), 'serve', ...(isFirst ? [] : ['--name', inputs.name])],
    // The extension host sets this too, but the editor's agent host does not.
    env: { ELECTRON_RUN_AS_NODE: '1' },
    // The editor caches a server's tools by its version, and stops a running server when the version changes (see
    // HeldVersion).
    version: `${inputs.extensionVersion}+${inputs.configurationHash}`,
    cwd: inputs.workspace,
  };
}

/** Returns the label, which differs between folders: the editor builds the server's id from it. */
export function serverLabel(name: string): string {
  return name === FIRST_NAME ? EXTENSION_TITLE : name;
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
