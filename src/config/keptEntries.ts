import { getNodeValue, type Node } from 'jsonc-parser';
import { nearest } from '../text/nearest.ts';
import type { LoadedConfig } from './fileReader.ts';
import { asLine, type ServerConfig, withConsequence } from './gatewayConfig.ts';
import { members } from './jsonNodes.ts';
import { ALL_KEYS, LAUNCH_KEYS } from './readServer.ts';

/** Entry of `servers` as the file spells it. */
export interface WrittenEntry {
  source: string;
  /**
   * Members that restrict the server. Unknown ones count, unless they resemble a member that restricts nothing. Absent
   * if the entry is no object: `false` or `null` may be meant to end the server.
   */
  limits: string | undefined;
}

export function writtenEntry(entry: Node, source: string): WrittenEntry {
  if (entry.type !== 'object') return { source, limits: undefined };
  const restricts = (key: string): boolean => !LAUNCH_KEYS.includes(nearest(key, ALL_KEYS) ?? key);
  const limits = members(entry).flatMap(([key, value]) =>
    restricts(key.value) ? [JSON.stringify([key.value, getNodeValue(value)])] : [],
  );
  return { source, limits: limits.sort().join() };
}

/**
 * Keeps the last readable version of each entry that an error breaks, so that a typo ends no server. An entry whose
 * restrictions differ from that version ends, because its server might offer more than the user wants.
 */
export function keepEntries(loaded: LoadedConfig, before: LoadedConfig): LoadedConfig {
  const kept = new Map<string, ServerConfig>();
  const reasons = new Set<string>();
  for (const { name, reason: message, location } of loaded.broken) {
    const server = before.servers.find((one) => one.name === name);
    const limits = loaded.entries.get(name)?.limits;
    if (!server || limits === undefined || limits !== before.entries.get(name)?.limits) continue;
    kept.set(name, { ...server, location });
    reasons.add(asLine({ message, location }));
  }
  if (kept.size === 0) return loaded;
  const entries = new Map([...loaded.entries, ...[...before.entries].filter(([name]) => kept.has(name))]);
  const written = [...entries].map(([name, { source }]) => `${JSON.stringify(name)}: ${source}`);
  const sources = new Map([...loaded.sources, ['servers', `{${written.join(',\n')}}`]]);
  const readable = new Map([...loaded.servers.map((one) => [one.name, one] as const), ...kept]);
  return {
    ...loaded,
    entries,
    sources,
    text: textOf(sources),
    servers: [...entries.keys()].flatMap((name) => readable.get(name) ?? []),
    broken: loaded.broken.filter(({ name }) => !kept.has(name)),
    problems: loaded.problems.map((one) =>
      reasons.has(asLine(one)) ? withConsequence(one, 'the last readable version of this entry stays in force') : one,
    ),
  };
}

/** Returns a file with these top-level keys. */
export function textOf(sources: ReadonlyMap<string, string>): string {
  return `{${[...sources].map(([key, source]) => `${JSON.stringify(key)}: ${source}`).join(',\n')}}`;
}
