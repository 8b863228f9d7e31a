import { createHash } from 'node:crypto';
import type { CallPipeline } from '../../calls/pipeline/callPipeline.ts';
import type { ListKind } from '../../link/movingSession.ts';
import type { SessionMode } from '../../mcp/session/sessionMode.ts';

/** What the clients of a mode see of each list that it has; the same in every worker that shows the same. */
export type ShownLists = Readonly<Partial<Record<ListKind, () => unknown>>>;

export interface Remembered {
  calls: Pick<CallPipeline<unknown>, 'memoryOf' | 'watchMemory' | 'remember'>;
  shown: ShownLists;
  /** As long as it is the same, so is what is shown. */
  version(): readonly unknown[];
  settled(): Promise<void>;
}

/** A mode whose sessions move to another worker with their quotas, their approvals and what their clients have listed. */
export function remembering(mode: SessionMode, { calls, shown, version, settled }: Remembered): SessionMode {
  let known: readonly unknown[] = [];
  // All sessions of a mode see the same.
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

/** Stands for a list, the same in every worker. */
function digestOf(listed: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(listed) ?? '')
    .digest('base64url');
}
