import type { ConfigOrigin, FileLocation } from '../config/gatewayConfig.ts';
import type { Finding } from '../trust/scan/finding.ts';

/** Something that a server lists, with what the scan found in it. */
export interface ScannedEntry {
  kind: 'tool' | 'prompt' | 'resource' | 'template' | 'instructions';
  /** Name; the address of a template, or of a resource without a name; "" for instructions. */
  name: string;
  findings: readonly Finding[];
}

/** Scan of one server's lists (T1). */
export interface ServerScan {
  server: string;
  /** Number of scanned entries. */
  scanned: number;
  /** Entries with findings, in the order of the lists. */
  entries: readonly ScannedEntry[];
  /** Place of the server in the configuration. */
  location?: FileLocation;
}

/** Comparison of a server's listing with its pins (T2). */
export interface TrustReview {
  server: string;
  origin: ConfigOrigin | undefined;
  onChange: 'block' | 'ask' | 'tell';
  /** Time of the baseline; absent before the first list. */
  since?: string;
  /** Why nothing of the server is offered. */
  quarantine?: string;
  /** Why its pins count for nothing. */
  problem?: string;
  approved: readonly { key: string; toolId?: string }[];
  /** Items that are not approved as they are now. */
  items: readonly TrustItem[];
}

/** Item exactly as its server lists it, with its key and its pin. */
export interface ListedItem {
  key: string;
  part: 'tools' | 'prompts' | 'resourceTemplates' | 'instructions';
  name: string;
  use: number;
  raw: unknown;
  pin: string;
}

/** Items of a workspace's server, for the lock file (T3). */
export interface ServerListing {
  server: string;
  disabled: boolean;
  /** Why the list is not what the server lists now. */
  reason?: string;
  items: readonly ListedItem[];
}

/** Item that differs from its pin, with hidden characters escaped. */
export interface TrustItem {
  key: string;
  part: string;
  name: string;
  toolId?: string;
  state: 'new' | 'changed' | 'gone' | 'blocked';
  pin?: string;
  /** Whether it is kept from models until a decision. */
  held: boolean;
  kinds: readonly string[];
  notes: readonly string[];
  movedFrom?: string;
  /** Versions as text for a person; absent where there is none. */
  before?: string;
  after?: string;
}

/** Decision of the user about a server, or about items as they were shown. */
export type TrustDecision = (
  | { action: 'accept'; server: string; shown: readonly { key: string; pin: string }[] }
  | { action: 'block'; server: string; keys: readonly string[] }
  | { action: 'quarantine' | 'release'; server: string }
) & {
  /** SHA-256 of the very lines that the user saw, for the log (T4). */
  lines?: string;
};
