/** What an import speaks of: servers in the form of VS Code's mcp.json, which is the form of `waygate.json`. */

export interface StdioEntry {
  command: string;
  args?: readonly string[];
  env?: Readonly<Record<string, string | number | boolean | null>>;
  cwd?: string;
  envFile?: string;
  disabled?: true;
}

export interface HttpEntry {
  type: 'http' | 'sse';
  url: string;
  headers?: Readonly<Record<string, string>>;
  disabled?: true;
}

export type ServerEntry = StdioEntry | HttpEntry;

/** One of `inputs`: what the person is asked for, once. Other fields (`options`, `default` …) are kept as they are. */
export interface InputEntry {
  id: string;
  type: string;
  [field: string]: unknown;
}

export interface ImportedServer {
  name: string;
  entry: ServerEntry;
  /** What could not be carried over or was changed on the way. Never holds a value, which may be secret. */
  notes: readonly string[];
  /** Where the entry stands in its file, key by key. */
  path: readonly string[];
}

/** A server that stands in a source and cannot be read, with the reason. */
export interface SourceFlaw {
  name: string;
  message: string;
}

export interface ParsedSource {
  servers: readonly ImportedServer[];
  inputs: readonly InputEntry[];
  flaws: readonly SourceFlaw[];
}

export function isHttp(entry: ServerEntry): entry is HttpEntry {
  return 'url' in entry;
}

export function mapEntryTexts(entry: ServerEntry, change: (text: string) => string): ServerEntry {
  const values = <V>(record: Readonly<Record<string, V>>): Record<string, V> =>
    Object.fromEntries(
      Object.entries(record).map(([key, value]) => [key, typeof value === 'string' ? (change(value) as V) : value]),
    );
  if (isHttp(entry)) {
    return { ...entry, url: change(entry.url), ...(entry.headers && { headers: values(entry.headers) }) };
  }
  return {
    ...entry,
    command: change(entry.command),
    ...(entry.args && { args: entry.args.map(change) }),
    ...(entry.env && { env: values(entry.env) }),
    ...(entry.cwd !== undefined && { cwd: change(entry.cwd) }),
    ...(entry.envFile !== undefined && { envFile: change(entry.envFile) }),
  };
}
