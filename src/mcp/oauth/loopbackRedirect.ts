import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { oneLine } from '../../text/porcelain.ts';
import { SignInError } from './signInError.ts';

/** Parameters of the redirect (RFC 6749 §4.1.2, RFC 9207). */
export interface RedirectAnswer {
  code: string;
  iss: string | undefined;
}

export interface LoopbackRedirect {
  uri: string;
  answer: Promise<RedirectAnswer>;
  /** Stops waiting; harmless afterwards. */
  close(reason?: string): void;
}

const PATH = '/callback';

/**
 * Waits on a port of 127.0.0.1 for the one answer that carries our state (RFC 8252 §7.3), for a bounded time. An answer
 * with another state may come from any page in the browser, so Waygate rejects that answer and continues to wait.
 * The number of such answers is not limited: the state has 256 random bits, and a limit would let a page end the sign-in.
 */
export async function listenForRedirect(state: string, timeoutMs: number): Promise<LoopbackRedirect> {
  let settle: { resolve(answer: RedirectAnswer): void; reject(error: Error): void } | undefined;
  const answer = new Promise<RedirectAnswer>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // The answer may fail before a caller waits for it.
  answer.catch(() => undefined);
  const server = createServer((request, response) => {
    const query = callbackQuery(request);
    if (!query) return respond(response, 404, 'There is nothing here.');
    if (!sameText(query.get('state') ?? '', state))
      return respond(response, 400, 'This is not the sign-in that Waygate waits for. Nothing has changed.');
    const error = query.get('error');
    const code = query.get('code');
    if (error !== null || !code) {
      respond(response, 200, 'The sign-in was refused. You can close this page.');
      end(new SignInError(refusal(error, query.get('error_description'))));
      return;
    }
    respond(response, 200, 'You are signed in. You can close this page and go back.');
    settle?.resolve({ code, iss: query.get('iss') ?? undefined });
    end();
  });
  const timer = setTimeout(
    () => end(new SignInError(`The sign-in was not completed within ${Math.round(timeoutMs / 60_000)} minutes.`)),
    timeoutMs,
  );
  timer.unref();
  function end(error?: Error): void {
    clearTimeout(timer);
    if (error) settle?.reject(error);
    server.close();
    // The browser's other connections would keep the server open; this answer is still sent.
    server.closeIdleConnections();
  }
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`,
    answer,
    close: (reason = 'The sign-in was cancelled.') => end(new SignInError(reason)),
  };
}

function callbackQuery({ method, url = '' }: IncomingMessage): URLSearchParams | undefined {
  if (method !== 'GET' || !URL.canParse(url, 'http://127.0.0.1')) return undefined;
  const { pathname, searchParams } = new URL(url, 'http://127.0.0.1');
  return pathname === PATH ? searchParams : undefined;
}

/** Reduces foreign words to one short line, for a terminal and a model. */
function refusal(error: string | null, description: string | null): string {
  const words = [error, description].filter((part) => part).join(': ') || 'the answer has no code';
  return `The sign-in was refused (${oneLine(words, 120)}).`;
}

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** Needs no style, which the policy forbids: the browser takes the colours of the user's system. */
const PAGE_HEAD =
  '<!doctype html><html lang="en"><meta name="color-scheme" content="light dark"><title>Waygate</title>';

function respond(response: ServerResponse, status: number, words: string): void {
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      connection: 'close',
    })
    .end(`${PAGE_HEAD}<p>${words}</p>`);
}
