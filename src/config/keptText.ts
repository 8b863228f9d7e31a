import { parse, stripComments } from 'jsonc-parser';
import { SECRET_MASK } from '../secrets/mask.ts';
import { scrubValue } from '../secrets/scrubValue.ts';
import { BLOCK_NAMES } from './declaration/document.ts';
import type { LoadedConfig } from './fileReader.ts';
import { secretsGiven } from './secretsGiven.ts';

type Entries = Readonly<Record<string, unknown>>;

/**
 * Returns the text of a file for the next worker: safety blocks as written, servers and inputs without secrets. A key
 * that cannot be read stays unreadable. Comments, unknown keys and broken servers may contain secrets and are left out.
 */
export function keptText({ sources, unreadable, servers }: LoadedConfig): string {
  const kept = new Map<string, string>();
  for (const key of [...BLOCK_NAMES, 'policyPreset']) {
    const source = sources.get(key);
    if (source !== undefined) kept.set(key, stripComments(source));
  }
  const entries = parse(sources.get('servers') ?? '{}') as Entries;
  const masked = servers.map((server) => [server.name, without(secretsGiven(server, []), entries[server.name])]);
  kept.set('servers', JSON.stringify(scrubValue(Object.fromEntries(masked))));
  const inputs = parse(sources.get('inputs') ?? '[]') as unknown;
  const open = Array.isArray(inputs) ? inputs.map(withoutDefault) : [];
  kept.set('inputs', JSON.stringify(scrubValue(open)));
  // No guarded key takes a string.
  for (const key of unreadable.keys()) kept.set(key, '"unreadable"');
  return `{${[...kept].map(([key, source]) => `${JSON.stringify(key)}: ${source}`).join(',\n')}}`;
}

function withoutDefault(input: unknown): unknown {
  const { default: _, ...rest } = (input ?? {}) as Entries;
  return rest.password === true ? rest : input;
}

/** Masks values in every text of an entry, the longest first. */
function without(secrets: readonly string[], value: unknown): unknown {
  if (typeof value === 'string') {
    const longest = [...secrets].sort((a, b) => b.length - a.length);
    return longest.reduce((text, secret) => (secret === '' ? text : text.replaceAll(secret, SECRET_MASK)), value);
  }
  if (Array.isArray(value)) return value.map((item) => without(secrets, item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, without(secrets, member)]));
}
