import { createHash } from 'node:crypto';

/** What a server has last told of itself, each list as it came. Replaced as a whole, and only where it differs. */
export interface ServerCatalog {
  tools: readonly unknown[];
  resources: readonly unknown[];
  resourceTemplates: readonly unknown[];
  prompts: readonly unknown[];
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

export const PARTS = [...LIST_NAMES, 'instructions', 'capabilities'] as const;

/** Tells two states of a part apart; `undefined` for one that cannot be written, because it nests beyond the stack. */
export function partHash(part: unknown): string | undefined {
  try {
    return createHash('sha256')
      .update(JSON.stringify(part) ?? '')
      .digest('hex');
  } catch {
    return undefined;
  }
}
