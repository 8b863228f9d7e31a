import { ensureWorkspaceState, stateRoot } from '../../../config/state/stateFolder.ts';
import { type GatewayTarget, stateVariant } from '../../../host/attach/startWorker.ts';
import { EmbeddedProvider, engineOptions } from '../../../records/embedded/embeddedProvider.ts';
import type { EngineOptions } from '../../../records/embedded/recordEngine.ts';

/** Makes the provider of `waygate records` without an address: the records of this machine under the user's grants. */
export function defaultProvider(target: GatewayTarget): EmbeddedProvider {
  return new EmbeddedProvider(embeddedOptions(target));
}

/** Places of the embedded records of a gateway. */
export function embeddedOptions(target: GatewayTarget): EngineOptions {
  const root = stateRoot();
  const stateFolder = ensureWorkspaceState(target.workspace, root, stateVariant(target));
  return engineOptions(stateFolder, root);
}
