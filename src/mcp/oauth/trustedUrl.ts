import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { SignInError } from './signInError.ts';

/**
 * Distance of an address. A server that needs a sign-in names addresses that Waygate fetches and the user's browser
 * opens. They must not lead to the user's own machine or network (MCP, Security Best Practices, SSRF), nor the browser
 * to anything but a page.
 */
export type Reach = 'public' | 'private' | 'link-local' | 'loopback';
export type Lookup = (host: string) => Promise<readonly string[]>;

const LISTS: readonly [Reach, BlockList][] = [
  ['loopback', subnets(['127.0.0.0', 8], ['::1', 128], ['0.0.0.0', 8], ['::', 128])],
  ['link-local', subnets(['169.254.0.0', 16], ['fe80::', 10])],
  ['private', subnets(['10.0.0.0', 8], ['172.16.0.0', 12], ['192.168.0.0', 16], ['100.64.0.0', 10], ['fc00::', 7])],
];

/** Addresses that a server may name: as far away as itself, or farther. */
const MAY_NAME: Readonly<Record<Reach, readonly Reach[]>> = {
  public: ['public'],
  private: ['public', 'private'],
  'link-local': ['public'],
  loopback: ['public', 'private', 'loopback'],
};

export class TrustedUrls {
  readonly #own: URL;
  readonly #configured: URL | undefined;
  readonly #lookup: Lookup;

  /** `configured` is an address that the user wrote; trust its host. */
  constructor(server: string, configured?: string, lookupHost: Lookup = addressesOf) {
    this.#own = new URL(server);
    this.#configured = configured === undefined ? undefined : new URL(configured);
    this.#lookup = lookupHost;
  }

  /**
   * Returns the address if Waygate may open or fetch it; else throws an error with one sentence, in which `what` names
   * the address.
   */
  check(address: string | URL, what: string): URL {
    if (!URL.canParse(String(address))) throw new SignInError(`${what} is not a valid address.`);
    const url = new URL(address);
    const shown = `${what} (${url.protocol}//${url.host})`;
    const reach = reachOf(hostOf(url));
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && reach === 'loopback')) {
      throw new SignInError(`${shown} must begin with https://; Waygate does not open it.`);
    }
    if (url.username || url.password) throw new SignInError(`${what} contains a password; Waygate does not open it.`);
    if (reach !== undefined && !this.#mayName(url, reach)) throw this.#refusal(shown, reach);
    return url;
  }

  /** Checks a URL before a fetch: a public name may resolve to a private address. */
  async checkResolved(url: URL): Promise<void> {
    if (this.#isKnown(url) || isIP(hostOf(url)) !== 0) return;
    for (const address of await this.#lookup(hostOf(url))) {
      const reach = reachOf(address) ?? 'public';
      if (!this.#mayName(url, reach)) throw this.#refusal(url.origin, reach);
    }
  }

  #mayName(url: URL, reach: Reach): boolean {
    return this.#isKnown(url) || MAY_NAME[reachOf(hostOf(this.#own)) ?? 'public'].includes(reach);
  }

  #isKnown(url: URL): boolean {
    return url.hostname === this.#own.hostname || url.hostname === this.#configured?.hostname;
  }

  #refusal(shown: string, reach: Reach): SignInError {
    return new SignInError(
      `${shown} is a ${reach} address, which ${this.#own.host} may not name; if it is right, configure it as "auth.issuer".`,
    );
  }
}

/** Returns the distance of a host; `undefined` for a name that needs the resolver. */
function reachOf(host: string): Reach | undefined {
  if (host === 'localhost' || host.endsWith('.localhost')) return 'loopback';
  const family = isIP(host);
  if (family === 0) return undefined;
  return LISTS.find(([, list]) => list.check(host, family === 6 ? 'ipv6' : 'ipv4'))?.[0] ?? 'public';
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

async function addressesOf(host: string): Promise<readonly string[]> {
  // The fetch reports an unknown name.
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.map(({ address }) => address);
}

function subnets(...ranges: [string, number][]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of ranges) list.addSubnet(address, prefix, address.includes(':') ? 'ipv6' : 'ipv4');
  return list;
}
