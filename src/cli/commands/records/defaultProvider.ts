import type { GatewayTarget } from '../../../host/attach/startWorker.ts';
import type { RecordProvider } from '../../../records/provider/recordProvider.ts';
import { UsageError } from '../../usageError.ts';

/** Makes the provider of `waygate records` without an address. The embedded provider belongs here. */
export function defaultProvider(_target: GatewayTarget): Promise<RecordProvider> {
  throw new UsageError(
    'no record provider is configured; name one with --provider-url or WAYGATE_RECORDS_PROVIDER_URL.',
  );
}
