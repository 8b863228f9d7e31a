import type { FetchLike } from '@modelcontextprotocol/sdk/shared/transport.js';
import { boundedBody } from '../wire/http/httpBody.ts';
import { SignInError } from './signInError.ts';
import type { TrustedUrls } from './trustedUrl.ts';

const TIMEOUT_MS = 15_000;
/** Size limit. Metadata and token answers are small. */
const MAX_BYTES = 1024 * 1024;

/** Returns a `fetch` for sign-ins: trusted addresses only, with limits of time and size. The SDK judges redirects. */
export function oauthFetch(urls: TrustedUrls): FetchLike {
  return async (address, init) => {
    const url = urls.check(address, 'An address of the sign-in');
    await urls.checkResolved(url);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    let response: Response;
    try {
      response = await fetch(url, { ...init, redirect: 'manual', signal });
    } catch (error) {
      const { message, cause } = error as Error & { cause?: { code?: string } };
      const why = signal.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : (cause?.code ?? message);
      throw new SignInError(`${url.origin} could not be reached for the sign-in (${why}).`);
    }
    if (!response.body) return response;
    const body = boundedBody(response.body, '', MAX_BYTES);
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
  };
}
