/** Hosts of this machine, to which a token may go without encryption. */
const LOOPBACK = /^(?:localhost|(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Returns the address of a provider without its last slash; undefined for one that must not get a token. */
export function recordAddress(given: string): string | undefined {
  if (!URL.canParse(given)) return undefined;
  const { protocol, hostname, username, password, search, hash, origin, pathname } = new URL(given);
  if (username !== '' || password !== '' || search !== '' || hash !== '') return undefined;
  if (protocol !== 'https:' && !(protocol === 'http:' && LOOPBACK.test(hostname))) return undefined;
  return `${origin}${pathname}`.replace(/\/+$/, '');
}
