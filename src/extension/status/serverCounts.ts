import type { ServerStatus } from '../../control/contract.ts';
import { t } from '../l10n.ts';
import { waitsForReview } from '../trust/heldRows.ts';

/** Condition of a server, as the user distinguishes them. */
export type ServerCondition = 'ready' | 'asleep' | 'starting' | 'needs_you' | 'failed' | 'off';

const WORDS: Record<ServerCondition, string> = {
  ready: t`ready`,
  asleep: t`asleep (starts when called)`,
  starting: t`starting`,
  needs_you: t`needs you`,
  failed: t`failed`,
  off: t`off`,
};

export interface ServerCounts {
  total: number;
  /** Servers whose tools can be called now. */
  usable: number;
  /** Conditions that some server has, in a fixed order. */
  conditions: readonly { condition: ServerCondition; words: string; count: number }[];
}

export function serverCounts(servers: readonly ServerStatus[]): ServerCounts {
  const found = servers.map(conditionOf);
  const conditions = (Object.keys(WORDS) as ServerCondition[]).map((condition) => ({
    condition,
    words: WORDS[condition],
    count: found.filter((one) => one === condition).length,
  }));
  return {
    total: servers.length,
    usable: servers.filter(isUsable).length,
    conditions: conditions.filter(({ count }) => count > 0),
  };
}

/** Words for the number of servers: `8 usable of 12`. */
export function usableWords({ usable, total }: Pick<ServerCounts, 'usable' | 'total'>): string {
  return t`${usable} usable of ${total}`;
}

function isUsable(server: ServerStatus): boolean {
  const { state, toolCount } = server;
  // A sleeping server without tools has nothing to call, so nothing would wake it.
  return (
    (state === 'ready' && (toolCount > 0 || !waitsForReview(server))) || (state === 'not_started' && toolCount > 0)
  );
}

function conditionOf(server: ServerStatus): ServerCondition {
  switch (server.state) {
    case 'disabled':
    case 'stopped':
      return 'off';
    case 'failed':
    case 'starting':
      return server.state;
    case 'ready':
    case 'not_started':
      if (waitsForReview(server) && !isUsable(server)) return 'needs_you';
      return server.state === 'ready' ? 'ready' : 'asleep';
    default:
      return 'needs_you';
  }
}
