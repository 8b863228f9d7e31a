import { join } from 'node:path';
import type { ConfigOrigin } from '../gatewayConfig.ts';
import { userConfigFile } from './stateFolder.ts';

/** File that configures a gateway. */
export interface ConfigPlace {
  origin: ConfigOrigin;
  file: string;
}

export function configFile(workspace: string): string {
  return join(workspace, '.vscode', 'waygate.json');
}

/** Returns the files of a gateway, later ones overriding earlier ones. A given file is used alone. */
export function configPlaces(workspace: string, env: NodeJS.ProcessEnv, given?: string): ConfigPlace[] {
  if (given !== undefined) return [{ origin: 'given', file: given }];
  return [
    { origin: 'user', file: userConfigFile(env) },
    { origin: 'workspace', file: configFile(workspace) },
  ];
}
