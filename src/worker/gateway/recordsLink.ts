import type { RecordsServerConfig } from '../../config/gatewayConfig.ts';
import { rootOf } from '../../config/state/stateFolder.ts';
import { EmbeddedProvider, engineOptions } from '../../records/embedded/embeddedProvider.ts';
import { isToken } from '../../records/grants/credentialCache.ts';
import { type GrantCheck, openGrants } from '../../records/grants/openGrants.ts';
import { ProviderError } from '../../records/provider/providerError.ts';
import type { RecordProvider } from '../../records/provider/recordProvider.ts';
import { recordAddress } from '../../records/remote/recordAddress.ts';
import { recordServer } from '../../records/server/recordServer.ts';
import { InProcessLink } from '../../upstream/transports/inProcessLink.ts';
import { LinkFailure, type UpstreamLink } from '../../upstream/transports/upstreamLink.ts';

/**
 * Opens the record surface as a server of the gateway (R6.6). The tokens of a provider are checked before it serves;
 * without an address it reads the records of this machine under the grants of the workspace.
 */
export async function recordsLink(
  { url: given, tokens }: RecordsServerConfig,
  stateFolder: string,
): Promise<UpstreamLink> {
  if (given === undefined) return linkTo(new EmbeddedProvider(engineOptions(stateFolder, rootOf(stateFolder))));
  const url = recordAddress(given);
  if (url === undefined) {
    throw new LinkFailure(
      'Its "url" must begin with https:// and have no user, password or query; http is for this machine only.',
    );
  }
  if (!tokens.every(isToken)) throw new LinkFailure('One of its tokens is empty, or has characters that no token has.');
  const { provider, check } = openGrants(
    url,
    tokens.map((token) => ({ token })),
  );
  await check().then(refuseUnusable, refuseOwner);
  return linkTo(provider);
}

function linkTo(provider: RecordProvider): UpstreamLink {
  return new InProcessLink(recordServer(provider), () => provider.dispose());
}

function refuseOwner(error: unknown): never {
  if (!(error instanceof ProviderError)) throw error;
  throw new LinkFailure(error.message, 'unauthorized');
}

/** Throws if no grant can be read. One that fails among others is a warning in the results. */
function refuseUnusable(grants: readonly GrantCheck[]): void {
  const [first] = grants;
  if (first === undefined || grants.some(({ failure }) => failure === undefined)) return;
  const isRejected = grants.every(({ answer }) => answer?.status === 401 || answer?.status === 403);
  if (isRejected) throw new LinkFailure('The record provider rejects its token; set another one.', 'unauthorized');
  throw new LinkFailure(first.failure ?? 'The record provider did not answer.', 'connection_refused');
}
