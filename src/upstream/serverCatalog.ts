import { createHash } from 'node:crypto';

/** What a server has last told of itself. Replaced as a whole, and only when it differs. */
export interface ServerCatalog {
  /** As they came. */
  tools: readonly unknown[];
  instructions?: string;
  capabilities: Readonly<Record<string, unknown>>;
}

/** Tells two catalogs apart; `undefined` for one that cannot be written, because it nests beyond the stack. */
export function catalogHash({ tools, instructions, capabilities }: ServerCatalog): string | undefined {
  try {
    return createHash('sha256')
      .update(JSON.stringify([tools, instructions, capabilities]))
      .digest('hex');
  } catch {
    return undefined;
  }
}
