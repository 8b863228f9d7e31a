import { isRecord } from '../lib/isRecord.ts';
import type { ServerEntry } from './serverEntry.ts';

/** Decides whether two entries start the same server. `disabled` does not matter. */

/** Identity with resolved references: two entries with different tokens are two servers. */
export function exactIdentity(entry: unknown, env: NodeJS.ProcessEnv): string {
  return identity(entry, (text) => text.replace(/\$\{env:(\w+)\}/g, (whole, name: string) => env[name] ?? whole));
}

/** Identity with all references alike: recognises an imported server although its secrets have become references. */
export function maskedIdentity(entry: unknown): string {
  // The user may have changed what was imported about its limits.
  const { tools: _, startTimeoutSeconds: __, auth: ___, sharing: ____, ...start } = isRecord(entry) ? entry : {};
  return identity(start, (text) => text.replace(/\$\{(env|input):[^}]*\}/g, '<reference>'));
}

function identity(entry: unknown, change: (text: string) => string): string {
  if (!isRecord(entry)) return '';
  const { disabled: _, type, ...rest } = entry;
  const kept = 'url' in rest ? { type: type ?? 'http', ...rest } : rest;
  return JSON.stringify(ordered(kept, change));
}

function ordered(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return value.map((item) => ordered(item, change));
  if (!isRecord(value)) return value;
  const members = Object.entries(value)
    .filter(([, member]) => !isEmpty(member))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return members.map(([key, member]) => [key, ordered(member, change)]);
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && Object.keys(value).length === 0;
}

/** Recognises Waygate itself as another client starts it: as its own server it would recurse without end. */
export function isWaygate(entry: ServerEntry): boolean {
  if (!('command' in entry)) return false;
  const words = [entry.command, ...(entry.args ?? [])];
  return words.some((word) => /(^|[\\/])waygate(\.cjs|\.cmd|\.exe|@[\w.-]+)?$/i.test(word)) && words.includes('serve');
}
