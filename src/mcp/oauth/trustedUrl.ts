import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { once } from '../../lib/once.ts';
import { SignInError } from './signInError.ts';

/**
 * Distance of an address. A server that needs a sign-in names addresses that Waygate fetches and the user's browser
 * opens. They must not lead to the user's own machine or network (MCP, Security Best Practices, SSRF), nor the browser
 * to anything but a page.
 */
export type Reach = 'public' | 'private' | 'link-local' | 'loopback' | 'reserved';
export type Lookup = (host: string) => Promise<LookupAddress[]>;

/** Ranges of the IANA registries of special-purpose addresses. */
const lists = once((): readonly [Reach, BlockList][] => [
  ['loopback', subnets(['127.0.0.0', 8], ['::1', 128], ['0.0.0.0', 8], ['::', 128])],
  ['link-local', subnets(['169.254.0.0', 16], ['fe80::', 10])],
  ['private', subnets(['10.0.0.0', 8], ['172.16.0.0', 12], ['192.168.0.0', 16], ['100.64.0.0', 10], ['fc00::', 7])],
  // Protocols, benchmarks, documentation, multicast; of IPv6 also Teredo and 6to4, which contain an address of IPv4.
  ['reserved', subnets(['192.0.0.0', 24], ['192.0.2.0', 24], ['192.88.99.0', 24], ['198.18.0.0', 15])],
  ['reserved', subnets(['198.51.100.0', 24], ['203.0.113.0', 24], ['224.0.0.0', 3])],
  ['reserved', subnets(['2001::', 23], ['2001:db8::', 32], ['2002::', 16], ['3fff::', 20])],
]);
/** Only these addresses of IPv6 are assigned to hosts of the internet. */
const globalUnicast = once(() => subnets(['2000::', 3]));
/** IPv4-mapped addresses, and those of NAT64, through which a network without IPv4 reaches hosts that have nothing else. */
const CONTAINS_IPV4 = /^(?:::ffff|64:ff9b:):([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/** Addresses that a server may name: as far away as itself, or farther. */
const MAY_NAME: Readonly<Record<Reach, readonly Reach[]>> = {
  public: ['public'],
  private: ['public', 'private'],
  'link-local': ['public'],
  loopback: ['public', 'private', 'loopback'],
  reserved: ['public'],
};

export class TrustedUrls {
  readonly #own: URL;
  readonly #configured: URL | undefined;
  readonly #lookup: Lookup;

  /** `configured` is an address that the user wrote; trust its host. */
  constructor(server: string, configured?: string, lookupHost: Lookup = (host) => lookup(host, { all: true })) {
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

  /**
   * Returns the resolver for a connection to `url`. A public name may resolve to a private address, and to another one
   * at the next question, so the connection uses the addresses that this resolver checked.
   */
  lookupFor(url: URL): LookupFunction {
    return (host, { all }, done) => {
      this.#lookup(host).then(
        (found) => {
          const refused = found.map(({ address }) => reachOf(address) ?? 'reserved');
          const reach = refused.find((one) => !this.#mayName(url, one));
          const [first] = found;
          if (reach !== undefined) done(this.#refusal(url.origin, reach), []);
          else if (all || !first) done(null, found);
          else done(null, first.address, first.family);
        },
        (error: NodeJS.ErrnoException) => done(error, []),
      );
    };
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
  // The parser of URLs gives every address one spelling.
  const address = family === 4 ? host : new URL(`http://[${host.replace(/%.*/, '')}]`).hostname.slice(1, -1);
  const [, high, low] = CONTAINS_IPV4.exec(address) ?? [];
  if (high !== undefined && low !== undefined)
    return reachOf(ipv4Of(Number.parseInt(high, 16), Number.parseInt(low, 16)));
  const type = family === 6 ? 'ipv6' : 'ipv4';
  const listed = lists().find(([, list]) => list.check(address, type))?.[0];
  return listed ?? (family === 4 || globalUnicast().check(address, type) ? 'public' : 'reserved');
}

function ipv4Of(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

function subnets(...ranges: [string, number][]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of ranges) list.addSubnet(address, prefix, address.includes(':') ? 'ipv6' : 'ipv4');
  return list;
}
