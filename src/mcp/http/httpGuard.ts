import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { HttpRefusal } from './httpRefusal.ts';

/** The names under which a server on loopback is reached by whoever is on this machine. */
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Who may speak to a server on loopback. Every page that a browser shows can send requests to it: a name of somebody
 * else's that resolves to 127.0.0.1 (DNS rebinding) is told by `Host`, another page by `Origin`
 * (MCP 2025-11-25, Transports, Security Warning). Other programs on this machine need the token.
 */
export class HttpGuard {
  readonly #names: ReadonlySet<string>;
  readonly #token: Buffer | undefined;

  constructor(token: string | undefined, allowedHosts: readonly string[] = []) {
    this.#names = new Set([...LOOPBACK_NAMES, ...allowedHosts.map((name) => name.toLowerCase())]);
    this.#token = token === undefined ? undefined : digest(token);
  }

  /** Refuses a request by what a browser tells of where it comes from. */
  checkSource({ host, origin }: IncomingHttpHeaders): void {
    const own = parseUrl(`http://${host ?? ''}/`);
    if (own === undefined || own.pathname !== '/' || own.username !== '' || !this.#names.has(own.hostname)) {
      throw new HttpRefusal(403, 'Waygate does not answer to this Host; use http://127.0.0.1 or http://localhost.');
    }
    if (origin === undefined) return;
    const page = parseUrl(origin);
    // The port belongs to it: a page that another program on this machine serves is another page.
    if (page === undefined || parseUrl(`${page.protocol}//${host}/`)?.host !== page.host) {
      throw new HttpRefusal(403, 'Waygate does not answer to pages of another Origin.');
    }
  }

  checkToken({ authorization }: IncomingHttpHeaders): void {
    if (this.#token === undefined) return;
    const given = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (given !== undefined && timingSafeEqual(digest(given), this.#token)) return;
    const problem = given === undefined ? '' : ', error="invalid_token"';
    throw new HttpRefusal(
      401,
      'The bearer token is missing or wrong; "waygate serve --http" tells at its start which file holds it.',
      { 'www-authenticate': `Bearer realm="waygate"${problem}` },
    );
  }
}

/** Of one length, whatever was given: a comparison must not tell how long the token is. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
