import type { HttpKeys, SharedKeys, StdioKeys } from './declaration/server.ts';

/** Place in a file. Lines and columns count from 1. */
export interface FileLocation {
  file: string;
  line: number;
  column: number;
}

export interface ConfigurationProblem {
  severity: 'error' | 'warning';
  message: string;
  location: FileLocation;
  /** Column after the key or value that is wrong, if that is on one line. */
  endColumn?: number;
}

/**
 * Owner of a file: the user, a repository, or the user by `--config`. Absent means a repository, which is trusted
 * least.
 */
export type ConfigOrigin = 'user' | 'workspace' | 'given';

/** The configuration as the worker uses it: checked. References to secrets are marked in it by `markReference`. */
export type ServerConfig = StdioServerConfig | HttpServerConfig | StaticServerConfig;
/** Servers that waygate.json can name: to start, or to connect to. */
export type WrittenServerConfig = StdioServerConfig | HttpServerConfig;

interface AnyServerConfig extends SharedKeys {
  name: string;
  location: FileLocation;
  origin?: ConfigOrigin;
}

/** A program that speaks MCP on its standard input and output. `env` has the variables of `envFile` too. */
export interface StdioServerConfig extends AnyServerConfig, StdioKeys {
  type: 'stdio';
  cwd: string;
}

/** A server at a URL. `either`: Streamable HTTP first, then the older HTTP+SSE if the server knows no other. */
export interface HttpServerConfig extends AnyServerConfig, HttpKeys {
  type: 'http' | 'sse' | 'either';
}

/** Part of a static catalog (G10.10): its lists and answers. Nothing runs for it. */
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

/** A server that is named but cannot be used, with the reason: the others work. */
export interface BrokenServer {
  name: string;
  reason: string;
  location: FileLocation;
}
