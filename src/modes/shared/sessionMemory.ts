import { createHash } from 'node:crypto';
import type { CallPipeline } from '../../calls/pipeline/callPipeline.ts';
import type { ListKind } from '../../link/movingSession.ts';
import type { SessionMode } from '../../mcp/session/sessionMode.ts';

/** Content of each list as clients of a mode see it. Equal in all workers that show the same list. */
export type ShownLists = Readonly<Partial<Record<ListKind, () => unknown>>>;

export interface Remembered {
  calls: Pick<CallPipeline<unknown>, 'memoryOf' | 'watchMemory' | 'remember'>;
  shown: ShownLists;
  /** Version of the lists: unchanged lists have an unchanged version. */
  version(): readonly unknown[];
  settled(): Promise<void>;
}

/**
 * Extends a mode so that its sessions take quotas, approvals and fingerprints of listed items along to another worker.
 */
export function remembering(mode: SessionMode, { calls, shown, version, settled }: Remembered): SessionMode {
  let known: readonly unknown[] = [];
  // Shared, because all sessions of a mode see the same lists.
  const digests = new Map<ListKind, string>();
  const list = (kind: ListKind): string | undefined => {
    const show = shown[kind];
    if (!show) return undefined;
    const now = version();
    if (now.some((part, i) => part !== known[i])) digests.clear();
    known = now;
    const mark = digests.get(kind) ?? digestOf(show());
    digests.set(kind, mark);
    return mark;
  };
  return {
    ...mode,
    memory: {
      take: (session) => calls.memoryOf(session),
      watch: (session, onChange) => calls.watchMemory(session, onChange),
      give: (session, value, age) => calls.remember(session, value, age),
      list,
      settled,
    },
  };
}

/** Fingerprint of a list, equal in every worker. */
function digestOf(listed: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(listed) ?? '')
    .digest('base64url');
}
