import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { HttpRefusal } from './httpRefusal.ts';

/** Names under which programs on this machine reach a server on loopback. */
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Decides about access to a server on loopback. Any page in a browser can send requests to it. `Host` reveals a foreign
 * name that resolves to 127.0.0.1 (DNS rebinding), `Origin` another page (MCP 2025-11-25, Transports, Security
 * Warning). Other programs on this machine need the token.
 */
export class HttpGuard {
  readonly #names: ReadonlySet<string>;
  readonly #token: Buffer | undefined;

  constructor(token: string | undefined, allowedHosts: readonly string[] = []) {
    this.#names = new Set([...LOOPBACK_NAMES, ...allowedHosts.map((name) => name.toLowerCase())]);
    this.#token = token === undefined ? undefined : digest(token);
  }

  /**
   * Rejects a request by its origin as the browser reports it. Texts are compared, because a parser of URLs gives many
   * spellings one meaning. The port counts: a page of another program on this machine is another page.
   */
  checkSource({ host = '', origin }: IncomingHttpHeaders): void {
    const [, name = ''] = /^(\[[\d:]+\]|[\w.-]+)(?::\d{1,5})?$/.exec(host) ?? [];
    if (!this.#names.has(name.toLowerCase())) {
      throw new HttpRefusal(403, 'Waygate does not answer to this Host; use http://127.0.0.1 or http://localhost.');
    }
    if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`) {
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
      'The bearer token is missing or wrong; "waygate serve --http" prints the path of its file at the start.',
      { 'www-authenticate': `Bearer realm="waygate"${problem}` },
    );
  }
}

/** Hashes a token to a fixed length, so that a comparison does not reveal the token's length. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
