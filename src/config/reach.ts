import { isDeepStrictEqual } from 'node:util';
import { scrubSecrets } from '../secrets/mask.ts';
import { quoted } from '../text/porcelain.ts';
import type { ServerConfig } from './gatewayConfig.ts';
import { writtenForm } from './secretReferences.ts';

/** Folder, file or address within the arguments of a program. Other arguments may be credentials. */
const PLACE = /^(?:[~.]*[\\/]|[A-Za-z]:[\\/]|[a-z][a-z\d+.-]*:\/\/)/;

/**
 * Describes where a server leads that another one with the same definitions does not: its folders and addresses, and
 * the names of variables and headers with another value, such as an account. Shows no such value.
 */
export function reachBeside(one: ServerConfig, other: ServerConfig): string[] {
  if (one.type === 'stdio' && other.type === 'stdio') {
    const args = (one.args ?? []).filter((arg) => !other.args?.includes(arg));
    const cwd = one.cwd === other.cwd ? [] : [one.cwd];
    return [...[...args.filter((arg) => PLACE.test(arg)), ...cwd].map(shownPlace), ...otherNames(one.env, other.env)];
  }
  if (one.type === 'static' || one.type === 'stdio') return [];
  if (one.url === undefined) return [];
  const url = 'url' in other && one.url === other.url ? [] : [shownPlace(one.url)];
  if (one.type === 'records') return url;
  return [...url, ...otherNames(one.headers, 'headers' in other ? other.headers : {})];
}

function otherNames(
  one: Readonly<Record<string, unknown>> = {},
  other: Readonly<Record<string, unknown>> = {},
): string[] {
  return Object.keys(one)
    .filter((name) => !isDeepStrictEqual(one[name], other[name]))
    .map((name) => `its own ${quoted(name)}`);
}

/** Leaves out the parts of an address that hold credentials. */
function shownPlace(place: string): string {
  const text = writtenForm(place);
  const url = /^[a-z][a-z\d+.-]+:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  return quoted(scrubSecrets(url === undefined ? text : `${url.protocol}//${url.host}${url.pathname}`));
}
