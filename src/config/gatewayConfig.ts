/** A place in a file that a person can open. Lines and columns count from 1. */
export interface FileLocation {
  file: string;
  line: number;
  column: number;
}

export interface ConfigurationProblem {
  severity: 'error' | 'warning';
  message: string;
  location: FileLocation;
}

/**
 * Whose word a file is: the person's own, a repository's, or that of a file given by hand with `--config`. Absent
 * stands for a repository's, which is trusted least.
 */
export type ConfigOrigin = 'user' | 'workspace' | 'given';

/** Which of a server's tools are there at all: globs over their raw names. `exclude` wins; no `include` is all. */
export interface ToolFilter {
  include: readonly string[];
  exclude: readonly string[];
}

/** The configuration as the worker uses it: checked. References to secrets stand in it as `markReference` makes them. */
export type ServerConfig = StdioServerConfig | HttpServerConfig | StaticServerConfig;
/** What a person's file can name: to start, or to connect to. */
export type WrittenServerConfig = StdioServerConfig | HttpServerConfig;

interface AnyServerConfig {
  name: string;
  disabled: boolean;
  /** Starts with the gateway and is never stopped for being idle. */
  keepAlive: boolean;
  location: FileLocation;
  origin?: ConfigOrigin;
  tools?: ToolFilter;
  /** Whether a strict start needs it; absent stands for yes. */
  required?: boolean;
}

/** A program that speaks MCP on its standard input and output. */
export interface StdioServerConfig extends AnyServerConfig {
  type: 'stdio';
  command: string;
  args: readonly string[];
  /** Only what the configuration says: the safe set of the worker's own environment comes with the child. */
  env: Readonly<Record<string, string>>;
  cwd: string;
  /** Where some of `env` was read from. */
  envFile?: string;
}

/** A server at a URL. `either`: Streamable HTTP first, and the HTTP+SSE before it where the server knows no other. */
export interface HttpServerConfig extends AnyServerConfig {
  type: 'http' | 'sse' | 'either';
  url: string;
  headers: Readonly<Record<string, string>>;
  auth?: AuthConfig;
}

/** What a sign-in at a server over HTTP cannot find out by itself. */
export interface AuthConfig {
  /** Of a client that was registered by hand, or the https address of a client id metadata document. */
  clientId?: string;
  clientSecret?: string;
  scopes?: readonly string[];
  /** The one authorization server that is trusted for this server. */
  issuer?: string;
}

/** Part of a static catalog (G10.10): its lists and its answers. No process runs for it. */
export interface StaticServerConfig extends AnyServerConfig {
  type: 'static';
  listing: StaticListing;
}

export interface StaticListing {
  /** As `tools/list` and the other lists give them. */
  tools: readonly StaticItem[];
  resources: readonly StaticItem[];
  prompts: readonly StaticItem[];
}

export interface StaticItem {
  listed: Readonly<Record<string, unknown>>;
  /** The result that the file gives for it, if any. */
  answer?: Readonly<Record<string, unknown>>;
}

/** A value that a person is asked for, in the form of VS Code's mcp.json. */
export interface InputConfig {
  id: string;
  type: 'promptString' | 'pickString';
  description: string;
  password: boolean;
  default?: string;
  options: readonly string[];
}

/** A server that is named but cannot be used, with the reason: the others work. */
export interface BrokenServer {
  name: string;
  reason: string;
  location: FileLocation;
}

/** How `tool_browse` answers. */
export interface BrowseConfig {
  /** How many cards a query brings when it does not say. */
  topK: number;
  /** Puts cards that were shown before first and unchanged, for clients that cache prompts (G9). */
  cacheStable: boolean;
  /** What was executed after a query raises that tool a little for such queries, in this workspace alone. */
  learning: boolean;
}

export const DEFAULT_BROWSE: BrowseConfig = { topK: 10, cacheStable: false, learning: true };

/** What is done to what passes through in the mode of that name. */
export interface PassthroughConfig {
  /** Long results come as digests with handles, as in the other modes. */
  firewall: boolean;
}

export const DEFAULT_PASSTHROUGH: PassthroughConfig = { firewall: false };

/** What is kept of results, and what of them is shown. */
export interface ArtifactConfig {
  ttlSeconds: number;
  maxBytes: number;
  maxArtifacts: number;
  /** A longer result comes as a digest. */
  shownChars: number;
  /** Secrets in what a model reads: masked in errors unless said otherwise. */
  maskSecrets: 'errors' | 'always' | 'never';
  /** Secrets in what is kept: by default an artifact is what the server said. */
  maskOnDisk: boolean;
}

export const DEFAULT_ARTIFACTS: ArtifactConfig = {
  ttlSeconds: 7 * 86_400,
  maxBytes: 512 * 1024 * 1024,
  maxArtifacts: 5_000,
  shownChars: 4_000,
  maskSecrets: 'errors',
  maskOnDisk: false,
};

/** What must be there before the gateway answers. */
export interface StartupConfig {
  /** `strict`: every server that is required. `degraded`: at least `minHealthyServers` of them. */
  mode: 'degraded' | 'strict';
  /** How long a server may take to start. */
  timeoutSeconds: number;
  minHealthyServers: number;
  /** Whether a catalog without a tool is a failed start. */
  failOnEmptyCatalog: boolean;
}

/** `npx` may have to download a server first; nothing waits for a start but the server's own tools. */
export const DEFAULT_STARTUP: StartupConfig = {
  mode: 'degraded',
  timeoutSeconds: 60,
  minHealthyServers: 0,
  failOnEmptyCatalog: false,
};

/** What becomes of a server's news that its tools have changed. */
export interface LiveRefreshConfig {
  enabled: boolean;
  /** Servers announce several changes in a row. */
  debounceSeconds: number;
  maxRefreshesPerMinute: number;
}

export const DEFAULT_LIVE_REFRESH: LiveRefreshConfig = {
  enabled: true,
  debounceSeconds: 0.2,
  maxRefreshesPerMinute: 60,
};

/** The blocks of which the last file that has one counts, each with a meaning of its own. */
export interface ConfigBlocks {
  browse: BrowseConfig;
  artifacts: ArtifactConfig;
  /** A server that nobody has called for so long is stopped; the next call starts it. */
  idleMinutes: number;
  passthrough: PassthroughConfig;
  startup: StartupConfig;
  liveRefresh: LiveRefreshConfig;
}

export const DEFAULT_BLOCKS: ConfigBlocks = {
  browse: DEFAULT_BROWSE,
  artifacts: DEFAULT_ARTIFACTS,
  idleMinutes: 10,
  passthrough: DEFAULT_PASSTHROUGH,
  startup: DEFAULT_STARTUP,
  liveRefresh: DEFAULT_LIVE_REFRESH,
};
