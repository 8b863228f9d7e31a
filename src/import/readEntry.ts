import { isKnownStateful } from '../config/statefulServers.ts';
import { isRecord } from '../lib/isRecord.ts';
import { carryOver } from './carryOver.ts';
import type { ReferenceScope, Translator } from './references.ts';
import type { HttpEntry, ImportedServer, SourceFlaw, StdioEntry } from './serverEntry.ts';

/** Server entry with its keys named as in VS Code. Unknown keys are reported and dropped. */
export type RawServer = Readonly<Record<string, unknown>>;

const STDIO_KEYS = ['command', 'args', 'env', 'cwd', 'envFile', 'sandboxEnabled'];
const HTTP_KEYS = ['url', 'headers'];
const HTTP_TYPES = ['http', 'sse', 'streamable-http', 'streamableHttp', 'streamable_http'];

export interface ReadOptions {
  path: readonly string[];
  references: Translator;
  scope: ReferenceScope;
  /** Keys without meaning for Waygate, dropped without a note. */
  silent?: readonly string[];
  /** Unit of the client's `timeout`, if it limits calls. */
  timeout?: 'ms' | 's';
  notes?: readonly string[];
}

class Unreadable extends Error {}

export function readEntry(name: string, raw: unknown, options: ReadOptions): ImportedServer | SourceFlaw {
  try {
    if (name.trim() === '') throw new Unreadable('it has no name');
    if (!isRecord(raw)) throw new Unreadable('it is not an object');
    return read(name, raw, options);
  } catch (error) {
    if (error instanceof Unreadable) return { name, message: error.message };
    throw error;
  }
}

export function isFlaw(result: ImportedServer | SourceFlaw): result is SourceFlaw {
  return 'message' in result;
}

function read(
  name: string,
  raw: RawServer,
  { path, references, scope, silent = [], notes = [], timeout }: ReadOptions,
) {
  const reported = new Set(notes);
  const translate = (text: string): string => {
    const result = references(text, scope);
    for (const note of result.notes) reported.add(note);
    return result.text;
  };
  const { common, auth, callSeconds, used, lost: restrictions } = carryOver(raw, timeout);
  const entry = {
    ...(hasText(raw, 'command') ? stdioEntry(raw, translate) : httpEntry(raw, translate)),
    ...common,
  };
  if ('command' in entry && isKnownStateful(entry.command, entry.args)) {
    entry.sharing = 'session';
    reported.add('it keeps state for its client, so each client session gets its own process ("sharing": "session")');
  }
  if (auth && 'url' in entry) {
    const { clientSecret } = auth;
    entry.auth = clientSecret === undefined ? auth : { ...auth, clientSecret: translate(clientSecret) };
  }
  const isWalled = 'sandbox' in entry && entry.sandbox !== false;
  const kept = 'command' in entry ? [...STDIO_KEYS, ...(isWalled ? ['sandbox'] : [])] : HTTP_KEYS;
  const lost = Object.keys(raw).filter(
    (key) => ![...kept, ...used, ...silent, 'type', 'disabled', 'sharing'].includes(key) && raw[key] !== undefined,
  );
  if (lost.length > 0) reported.add(`not imported: ${lost.join(', ')}`);
  if (restrictions.length > 0) reported.add(staysOff(restrictions.join(', ')));
  return {
    name,
    entry: raw.disabled === true || restrictions.length > 0 ? { ...entry, disabled: true as const } : entry,
    notes: [...reported],
    path,
    ...(callSeconds !== undefined && { callSeconds }),
  };
}

/** Explains why a server without its restriction does not start. */
export function staysOff(restriction: string): string {
  return `it stays disabled, because its restriction is not imported: ${restriction}. Restrict it with "tools" and remove "disabled"`;
}

function stdioEntry(raw: RawServer, translate: (text: string) => string): StdioEntry {
  const args = raw.args ?? [];
  if (!Array.isArray(args)) throw new Unreadable('its "args" are not a list');
  const env = strings(raw, 'env', translate);
  return {
    command: translate(text(raw, 'command')),
    ...(args.length > 0 && { args: args.map((argument) => translate(String(argument))) }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(hasText(raw, 'cwd') && { cwd: translate(text(raw, 'cwd')) }),
    ...(hasText(raw, 'envFile') && { envFile: translate(text(raw, 'envFile')) }),
    ...sandboxOf(raw, translate),
  };
}

/** VS Code switches its rules on with `sandboxEnabled`; in `waygate.json`, rules alone do that. */
function sandboxOf(raw: RawServer, translate: (text: string) => string): Pick<StdioEntry, 'sandbox'> {
  const { sandboxEnabled: isOn, sandbox: rules } = raw;
  if (typeof isOn !== 'boolean') return {};
  if (!isOn || !isRecord(rules) || Object.keys(rules).length === 0) return { sandbox: isOn };
  return {
    sandbox: JSON.parse(JSON.stringify(rules), (_, value) => (typeof value === 'string' ? translate(value) : value)),
  };
}

function httpEntry(raw: RawServer, translate: (text: string) => string): HttpEntry {
  if (!hasText(raw, 'url')) throw new Unreadable('it has neither a command nor a URL');
  const type = raw.type;
  if (type !== undefined && type !== 'stdio' && !HTTP_TYPES.includes(String(type))) {
    throw new Unreadable(`Waygate does not know its type "${String(type)}"`);
  }
  const headers = strings(raw, 'headers', translate);
  return {
    ...(type !== undefined && type !== 'stdio' && { type: type === 'sse' ? ('sse' as const) : ('http' as const) }),
    url: translate(text(raw, 'url')),
    ...(Object.keys(headers).length > 0 && { headers: mapToText(headers) }),
  };
}

function strings(raw: RawServer, key: string, translate: (text: string) => string) {
  const record = raw[key] ?? {};
  if (!isRecord(record)) throw new Unreadable(`its "${key}" are not an object`);
  const entries = Object.entries(record).map(([name, value]): [string, string | number | boolean | null] => {
    if (typeof value === 'string') return [name, translate(value)];
    if (value === null || typeof value === 'number' || typeof value === 'boolean') return [name, value];
    throw new Unreadable(`"${key}.${name}" is not a text`);
  });
  return Object.fromEntries(entries);
}

function mapToText(record: Readonly<Record<string, string | number | boolean | null>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(record).flatMap(([key, value]) => (value === null ? [] : [[key, String(value)]])),
  );
}

function hasText(raw: RawServer, key: string): boolean {
  const value = raw[key];
  return typeof value === 'string' && value.trim() !== '';
}

function text(raw: RawServer, key: string): string {
  return raw[key] as string;
}
