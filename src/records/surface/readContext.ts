import type { RecordProvider } from '../provider/recordProvider.ts';
import { Declined } from './answers.ts';

/** Provider that a call reads from, and the signal that cancels the call. */
export interface ReadContext {
  provider: RecordProvider;
  signal?: AbortSignal | undefined;
}

/** Throws the provider's error where it needs a source and the call names none (R5.3). Sends no request. */
export function requireSource({ provider }: ReadContext, connectionId: string | undefined): void {
  const refusal = provider.refusal?.(connectionId);
  if (refusal) throw new Declined(refusal);
}
