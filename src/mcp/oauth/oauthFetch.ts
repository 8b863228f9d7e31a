import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { LookupFunction } from 'node:net';
import { Readable } from 'node:stream';
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
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    let response: Response;
    try {
      response = await send(new Request(url, init), urls.lookupFor(url), signal);
    } catch (error) {
      if (error instanceof SignInError) throw error;
      const { message, code } = error as NodeJS.ErrnoException;
      const why = signal.aborted ? `no answer within ${TIMEOUT_MS / 1000} s` : (code ?? message);
      throw new SignInError(`${url.origin} could not be reached for the sign-in (${why}).`);
    }
    if (!response.body) return response;
    const body = boundedBody(response.body, '', MAX_BYTES);
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
  };
}

/** Statuses whose response has no body. */
const BODILESS: readonly unknown[] = [204, 205, 304];

/** Sends a request on a connection of its own, as `fetch` takes no resolver and a kept connection asks none. */
async function send(request: Request, lookup: LookupFunction, signal: AbortSignal): Promise<Response> {
  const headers = { ...Object.fromEntries(request.headers), 'accept-encoding': 'identity' };
  const body = Buffer.from(await request.arrayBuffer());
  const start = new URL(request.url).protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = start(request.url, { method: request.method, headers, lookup, signal, agent: false }, (answer) => {
      try {
        resolve(responseOf(answer));
      } catch (error) {
        answer.destroy();
        reject(error);
      }
    });
    sent.on('error', reject).end(body);
  });
}

/** Throws for a status or a header that HTTP does not have. */
function responseOf(answer: IncomingMessage): Response {
  const { statusCode: status = 0, headersDistinct } = answer;
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct))
    for (const one of values) headers.append(name, one);
  if (BODILESS.includes(status)) return new Response(null, { status, headers });
  return new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>, { status, headers });
}
