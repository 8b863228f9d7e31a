import type { InputConfig } from './declaration/gatewayBlocks.ts';
import type { HttpKeys, RecordsKeys, SharedKeys, StdioKeys } from './declaration/server.ts';

/** Place in a file. Lines and columns count from 1. */
export interface FileLocation {
  file: string;
  line: number;
  column: number;
}

/** Kinds of problems. `docs/editor/problems.md` has a section on each. */
export const PROBLEM_CODES = [
  'file',
  'syntax',
  'unknown_key',
  'misplaced_key',
  'duplicate',
  'missing',
  'wrong_value',
  'server_name',
  'reference',
  'unknown_server',
  'no_effect',
  'clear_secret',
  'shared_state',
  'startup',
  'suspicious_text',
] as const;
export type ProblemCode = (typeof PROBLEM_CODES)[number];

export interface ProblemKind {
  code: ProblemCode;
  /** Key or string that was probably meant, with the written one. */
  meant?: { written: string; instead: string };
}

export interface ConfigurationProblem extends ProblemKind {
  severity: 'error' | 'warning';
  message: string;
  location: FileLocation;
  /** Column after the wrong key or value; after its first character if it ends on another line. */
  endColumn?: number;
}

/** `file:line:column: message`. */
export function asLine({ message, location }: Pick<ConfigurationProblem, 'message' | 'location'>): string {
  return `${location.file}:${location.line}:${location.column}: ${message}`;
}

export function withConsequence(problem: ConfigurationProblem, meaning: string): ConfigurationProblem {
  return meaning === '' ? problem : { ...problem, message: `${problem.message} Until then ${meaning}.` };
}

/**
 * Owner of a file: the user, a repository, or the user by `--config`. If absent, a repository, which has the least
 * trust.
 */
export type ConfigOrigin = 'user' | 'workspace' | 'given';

/** Validated configuration of a server, as the worker uses it. `markReference` marks its references to secrets. */
export type ServerConfig = WrittenServerConfig | StaticServerConfig;
/** Servers that waygate.json can name: programs, addresses, and providers of records. */
export type WrittenServerConfig = StdioServerConfig | HttpServerConfig | RecordsServerConfig;

interface AnyServerConfig extends SharedKeys {
  name: string;
  location: FileLocation;
  origin?: ConfigOrigin;
  /** Inputs that the entry refers to. A repository's `default` must not reach the user's own servers. */
  inputs?: readonly InputConfig[];
}

/** Program that speaks MCP on its standard input and output. `env` includes the variables of `envFile`. */
export interface StdioServerConfig extends AnyServerConfig, StdioKeys {
  type: 'stdio';
  cwd: string;
  /** The entry with `${env:NAME}` unresolved, as the user approves it. */
  declared?: StdioKeys;
  /** SHA-256 of the content of `envFile`. */
  envFileHash?: string;
}

/** Server at a URL. `http`: Streamable HTTP first, then the older HTTP+SSE if the server does not know it. */
export interface HttpServerConfig extends AnyServerConfig, HttpKeys {
  type: 'http' | 'sse';
  /** The entry with `${env:NAME}` unresolved, as the user approves it. */
  declared?: HttpKeys;
}

/** Provider of records, which Waygate itself reads as a server with five tools (R1.1). */
export interface RecordsServerConfig extends AnyServerConfig, RecordsKeys {
  type: 'records';
  /** The entry with `${env:NAME}` unresolved, as the user approves it. */
  declared?: RecordsKeys;
}

/** Whether what a server lists comes from Waygate itself or from a file that the user gave, so that pins prove nothing. */
export function hasOwnListing(config: ServerConfig): config is StaticServerConfig | RecordsServerConfig {
  return config.type === 'static' || config.type === 'records';
}

/** Part of a static catalog (G10.10): its lists and answers. No process runs for it. */
export interface StaticServerConfig extends AnyServerConfig {
  type: 'static';
  listing: StaticListing;
}

export interface StaticListing {
  /** Entries in the form of `tools/list` and the other lists. */
  tools: readonly StaticItem[];
  resources: readonly StaticItem[];
  prompts: readonly StaticItem[];
}

export interface StaticItem {
  listed: Readonly<Record<string, unknown>>;
  /** Result that the file defines for the entry, if any. */
  answer?: Readonly<Record<string, unknown>>;
}

/** Server with an invalid entry, and the reason. Other servers keep working. */
export interface BrokenServer {
  name: string;
  reason: string;
  location: FileLocation;
}
