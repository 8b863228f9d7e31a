import { configurationHash, type DefinitionData, hostScript, nodeExecutable } from './serverDefinition.ts';

export const RECORDS_LABEL = 'Waygate Records';
/** Variable that gives the token to `waygate records`. */
export const TOKEN_VARIABLE = 'WAYGATE_RECORDS_TOKEN';

/** Inputs of the definition of the record server, which the editor stores in clear text. */
export interface RecordsInputs {
  distFolder: string;
  extensionVersion: string;
  /** Setting `waygate.records.providerUrl`. */
  recordsUrl: string;
  nodePath: string;
  execPath: string;
}

/**
 * Builds the definition of the record server; undefined while no provider is configured. Contains no token: the editor
 * gets that only when it starts the server.
 */
export function recordsDefinition({ recordsUrl, ...inputs }: RecordsInputs): DefinitionData | undefined {
  const url = recordsUrl.trim();
  if (url === '') return undefined;
  return {
    label: RECORDS_LABEL,
    command: nodeExecutable(inputs),
    args: [hostScript(inputs.distFolder), 'records', '--provider-url', url],
    env: { ELECTRON_RUN_AS_NODE: '1' },
    version: `${inputs.extensionVersion}+${configurationHash(Buffer.from(url))}`,
  };
}

/** Returns the address of the provider in the arguments of a definition. */
export function providerOf(args: readonly string[]): string | undefined {
  const at = args.indexOf('--provider-url');
  return at === -1 ? undefined : args[at + 1];
}
