import type { ServerConfig } from '../config/gatewayConfig.ts';
import { protectSecrets } from './secrets.ts';
import type { ServerEntry } from './serverEntry.ts';

/**
 * All that a server is given with its start and that is secret: what was `kept` for it, what stands in clear under a
 * name that says so or in a form that does, and the password within an address or a connection string.
 * `config` has its references followed.
 */
export function secretsGiven(config: ServerConfig, kept: readonly string[]): string[] {
  const whole = [...kept, ...inClear(entryOf(config))];
  const within = whole.flatMap((value) => inClear({ command: '', args: [value] }));
  return [...new Set([...whole, ...within])];
}

/** Whatever an import would put a reference in the place of. */
function inClear(entry: ServerEntry): string[] {
  return protectSecrets('', entry, {}).secrets.map(({ value }) => value);
}

function entryOf(config: ServerConfig): ServerEntry {
  if (config.type === 'stdio') return { command: config.command, args: config.args, env: config.env };
  if (config.type === 'static') return { command: '' };
  return { type: 'http', url: config.url, headers: config.headers };
}
