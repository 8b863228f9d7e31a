/** Reason why a sign-in failed, in one sentence. */
export class SignInError extends Error {
  override readonly name = 'SignInError';
}
