import type { RecordsServerConfig } from '../../config/gatewayConfig.ts';
import { isToken } from '../../records/grants/credentialCache.ts';
import { type GrantCheck, openGrants } from '../../records/grants/openGrants.ts';
import { ProviderError } from '../../records/provider/providerError.ts';
import { recordAddress } from '../../records/remote/recordAddress.ts';
import { recordServer } from '../../records/server/recordServer.ts';
import { InProcessLink } from '../../upstream/transports/inProcessLink.ts';
import { LinkFailure, type UpstreamLink } from '../../upstream/transports/upstreamLink.ts';

/** Opens the record surface as a server of the gateway (R6.6). Its tokens are checked before it serves. */
export async function recordsLink({ url: given, tokens }: RecordsServerConfig): Promise<UpstreamLink> {
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
