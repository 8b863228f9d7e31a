import { configurationHash, type DefinitionData, hostScript, nodeExecutable } from './serverDefinition.ts';

export const RECORDS_LABEL = 'Waygate Records';
/** Variable that gives the token to `waygate records`. */
export const TOKEN_VARIABLE = 'WAYGATE_RECORDS_TOKEN';

/** Value of the setting for the records of this machine. */
const EMBEDDED = 'embedded';
/** Variables that name another provider. The editor may have them from its own environment. */
const NO_PROVIDER = { WAYGATE_RECORDS_PROVIDER_URL: '', PDPP_PROVIDER_URL: '' };

/** Inputs of the definition of the record server, which the editor stores in clear text. */
export interface RecordsInputs {
  distFolder: string;
  extensionVersion: string;
  /** Setting `waygate.records.providerUrl`. */
  recordsUrl: string;
  /** First folder of the workspace on a real disk. */
  folder: string | undefined;
  nodePath: string;
  execPath: string;
}

/**
 * Builds the definition of the record server; undefined while no provider is configured, or no folder is open whose
 * records are meant. Contains no token: the editor gets that only when it starts the server.
 */
export function recordsDefinition({ recordsUrl, folder, ...inputs }: RecordsInputs): DefinitionData | undefined {
  const url = recordsUrl.trim();
  const isEmbedded = url === EMBEDDED;
  const [option, place] = isEmbedded ? (['--workspace', folder] as const) : (['--provider-url', url] as const);
  if (place === undefined || place === '') return undefined;
  return {
    label: RECORDS_LABEL,
    command: nodeExecutable(inputs),
    args: [hostScript(inputs.distFolder), 'records', option, place],
    env: { ELECTRON_RUN_AS_NODE: '1', ...(isEmbedded && NO_PROVIDER) },
    version: `${inputs.extensionVersion}+${configurationHash(Buffer.from(place))}`,
  };
}

/** Returns the address of the provider in the arguments of a definition; the records of this machine have none. */
export function providerOf(args: readonly string[]): string | undefined {
  const at = args.indexOf('--provider-url');
  return at === -1 ? undefined : args[at + 1];
}
