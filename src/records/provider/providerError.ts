export type ProviderFault =
  | 'provider_unreachable'
  | 'provider_timeout'
  | 'provider_redirected'
  | 'provider_answer_too_large'
  | 'provider_answer_invalid'
  | 'provider_failed'
  | 'owner_credential_refused'
  | 'cancelled';

/** Error of a read that has no answer. The message is one sentence that may be shown to anyone. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly code: ProviderFault;

  constructor(code: ProviderFault, message: string) {
    super(message);
    this.code = code;
  }
}
