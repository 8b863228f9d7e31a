import { createHash } from 'node:crypto';

/** Latest lists and introduction of a server, unchanged as received. Replaced as a whole, and only after a change. */
export interface ServerCatalog {
  tools: readonly unknown[];
  resources: readonly unknown[];
  resourceTemplates: readonly unknown[];
  prompts: readonly unknown[];
  /** Resources that read like an attack (T2.18). Only the scan shows them. */
  harmfulResources?: readonly unknown[] | undefined;
  instructions?: string | undefined;
  capabilities: Readonly<Record<string, unknown>>;
}

export const LIST_NAMES = ['tools', 'resources', 'resourceTemplates', 'prompts'] as const;
export type ListName = (typeof LIST_NAMES)[number];

export const NOTHING_LISTED: ServerCatalog = {
  tools: [],
  resources: [],
  resourceTemplates: [],
  prompts: [],
  capabilities: {},
};

export const PARTS = [...LIST_NAMES, 'harmfulResources', 'instructions', 'capabilities'] as const;

/** Returns a hash of a part; `undefined` for a part nested so deeply that it cannot be serialised. */
export function partHash(part: unknown): string | undefined {
  try {
    return createHash('sha256')
      .update(JSON.stringify(part) ?? '')
      .digest('hex');
  } catch {
    return undefined;
  }
}
