/** Server entries of an import, in the format of VS Code's mcp.json, which `waygate.json` uses too. */

export interface ToolFilterEntry {
  include?: readonly string[];
  exclude?: readonly string[];
}

/** Keys of every server, beside those of its start. */
export interface CommonKeys {
  tools?: ToolFilterEntry;
  startTimeoutSeconds?: number;
  sharing?: 'session';
  disabled?: true;
}

export interface AuthEntry {
  clientId?: string;
  clientSecret?: string;
  scopes?: readonly string[];
  issuer?: string;
}

export interface StdioEntry extends CommonKeys {
  command: string;
  args?: readonly string[];
  env?: Readonly<Record<string, string | number | boolean | null>>;
  cwd?: string;
  envFile?: string;
  sandbox?: boolean | Readonly<Record<string, unknown>>;
}

export interface HttpEntry extends CommonKeys {
  type?: 'http' | 'sse';
  url: string;
  headers?: Readonly<Record<string, string>>;
  auth?: AuthEntry;
}

export type ServerEntry = StdioEntry | HttpEntry;

/**
 * Item of `inputs`: a question that the user answers once. Other fields (`options`, `default` …) are kept unchanged.
 */
export interface InputEntry {
  id: string;
  type: string;
  [field: string]: unknown;
}

export interface ImportedServer {
  name: string;
  entry: ServerEntry;
  /** Parts that were dropped or changed during the import. Never contains a value, which may be secret. */
  notes: readonly string[];
  /** Path of the entry in its file, key by key. */
  path: readonly string[];
  /** Time limit of its calls, if the client has one for this server. */
  callSeconds?: number;
}

/** Server entry that cannot be read, with the reason. */
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
    return {
      ...entry,
      url: change(entry.url),
      ...(entry.headers && { headers: values(entry.headers) }),
      ...(entry.auth?.clientSecret !== undefined && {
        auth: { ...entry.auth, clientSecret: change(entry.auth.clientSecret) },
      }),
    };
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
