import { findNodeAtLocation, type Node } from 'jsonc-parser';
import { type ClearSecret, clearArguments, clearSecrets } from '../secrets/clearSecrets.ts';
import { members } from './jsonNodes.ts';

/** String of an entry of `servers` with secrets in it. */
export interface StringWithSecrets {
  /** Path within the entry. */
  path: readonly (string | number)[];
  at: Node;
  /** Proposed name of the secret. */
  name: string;
  /** Places within the value of the string. */
  secrets: readonly ClearSecret[];
}

/** Returns the secrets that stand in clear in the entry of a server. */
export function secretsInClear(entry: Node, server: string): StringWithSecrets[] {
  const found: StringWithSecrets[] = [];
  const add = (path: StringWithSecrets['path'], at: Node, name: string, secrets: readonly ClearSecret[]): void => {
    if (secrets.length > 0) found.push({ path, at, name: name.replace(/[^A-Za-z0-9_.-]+/g, '_') || 'NAME', secrets });
  };
  for (const field of ['env', 'headers']) {
    const values = findNodeAtLocation(entry, [field]);
    for (const [key, value] of values ? members(values) : []) {
      if (value.type !== 'string') continue;
      const name = field === 'headers' ? `${server}_TOKEN` : key.value;
      add([field, key.value], value, name, clearSecrets(key.value, value.value));
    }
  }
  const items = findNodeAtLocation(entry, ['args'])?.children ?? [];
  const args = items.map(({ value }) => (typeof value === 'string' ? value : ''));
  for (const { index, name, secrets } of clearArguments(args)) {
    add(['args', index], items[index] as Node, name || (secrets[0]?.label ?? ''), secrets);
  }
  const url = findNodeAtLocation(entry, ['url']);
  if (url?.type === 'string') add(['url'], url, `${server}_TOKEN`, clearSecrets('url', url.value));
  return found;
}
