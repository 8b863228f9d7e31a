import { homedir } from 'node:os';
import { basename } from 'node:path';
import { ensureWorkspaceState, stateRoot } from '../../../config/state/stateFolder.ts';
import type { GatewayTarget } from '../../../host/attach/startWorker.ts';
import { EmbeddedProvider } from '../../../records/embedded/embeddedProvider.ts';

/** Makes the provider of `waygate records` without an address: the records of this machine under the user's grants. */
export function defaultProvider({ workspace }: GatewayTarget): EmbeddedProvider {
  const [root, stateFolder] = [stateRoot(), ensureWorkspaceState(workspace)];
  return new EmbeddedProvider({ stateFolder, stateRoot: root, workspace: basename(stateFolder), home: homedir() });
}
