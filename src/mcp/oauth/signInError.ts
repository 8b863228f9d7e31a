/** Why a sign-in did not come about, told in one sentence. */
export class SignInError extends Error {
  override readonly name = 'SignInError';
}
