import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pace } from '../../lib/pace.ts';
import { HttpRefusal } from './httpRefusal.ts';

/** Names under which programs on this machine reach a server on loopback. */
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

const REPORT_PACE = { delayMs: 1_000, intervalMs: 60_000 };

export interface GuessLimits {
  /** Time after which a wrong token is refused. */
  wrongTokenMs: number;
  /** Number of wrong tokens that are refused so late. More are refused at once, with another status. */
  wrongTokens: number;
}

/**
 * Decides about access to a server on loopback. Any page in a browser can send requests to it. `Host` reveals a foreign
 * name that resolves to 127.0.0.1 (DNS rebinding), `Origin` another page (MCP 2025-11-25, Transports, Security
 * Warning). Other programs on this machine need the token.
 */
export class HttpGuard {
  readonly #names: ReadonlySet<string>;
  readonly #token: Buffer | undefined;
  readonly #limits: GuessLimits;
  /** Wrong tokens since the last report, and those whose refusal waits. */
  readonly #wrong = { count: 0, waiting: 0 };
  readonly #report: Pace;

  constructor(
    token: string | undefined,
    limits: GuessLimits,
    log: (line: string) => void,
    allowedHosts: readonly string[] = [],
  ) {
    this.#limits = limits;
    this.#report = new Pace(() => {
      const { count } = this.#wrong;
      this.#wrong.count = 0;
      log(`refused ${count} ${count === 1 ? 'request' : 'requests'} with a wrong bearer token`);
    }, REPORT_PACE);
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

  /**
   * Rejects a request without the token. A wrong token is refused slowly and reported once a minute. The right token
   * never waits, and wrong ones are counted for all senders together, because a program here has many addresses.
   */
  async checkToken({ authorization }: IncomingHttpHeaders): Promise<void> {
    if (this.#token === undefined) return;
    const given = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];
    if (given !== undefined && timingSafeEqual(digest(given), this.#token)) return;
    if (given !== undefined) await this.#slowDown();
    const problem = given === undefined ? '' : ', error="invalid_token"';
    throw new HttpRefusal(
      401,
      'The bearer token is missing or wrong; "waygate serve --http" prints the path of its file at the start.',
      { 'www-authenticate': `Bearer realm="waygate"${problem}` },
    );
  }

  close(): void {
    this.#report.stop();
  }

  async #slowDown(): Promise<void> {
    this.#wrong.count += 1;
    this.#report.request();
    if (this.#wrong.waiting >= this.#limits.wrongTokens) {
      throw new HttpRefusal(429, 'Too many requests have a wrong bearer token.', { 'retry-after': '60' });
    }
    this.#wrong.waiting += 1;
    await sleep(this.#limits.wrongTokenMs, undefined, { ref: false });
    this.#wrong.waiting -= 1;
  }
}

/** Hashes a token to a fixed length, so that a comparison does not reveal the token's length. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
