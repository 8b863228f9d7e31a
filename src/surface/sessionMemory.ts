import { createHash } from 'node:crypto';
import type { CallPipeline } from '../dispatch/callPipeline.ts';
import type { SessionMemory } from '../protocol/movingSession.ts';
import type { SessionSurface } from '../protocol/sessionServer.ts';

/** What the clients of a face see of each list but the tools, which a host knows of itself; told apart by value. */
export type ShownLists = Readonly<Record<'resources' | 'prompts', unknown>>;

/** A face whose sessions move to another worker with their quotas, their approvals and what their clients have listed. */
export function remembering(
  surface: SessionSurface,
  calls: Pick<CallPipeline<unknown>, 'memoryOf' | 'remember'>,
  shown: () => Partial<ShownLists>,
  /** As long as it is the same, so is what is shown. */
  version: () => readonly unknown[],
): SessionSurface {
  let known: { version: readonly unknown[]; lists: Record<string, string> } | undefined;
  // All sessions move at once.
  const lists = (): Record<string, string> => {
    const now = version();
    if (!known?.version.every((part, i) => part === now[i])) {
      const digests = Object.entries(shown()).map(([kind, list]) => [kind, digest(list)] as const);
      known = { version: now, lists: Object.fromEntries(digests) };
    }
    return known.lists;
  };
  const memory: SessionMemory = {
    take: (session) => calls.memoryOf(session),
    give: (session, value) => calls.remember(session, value),
    lists,
  };
  return { ...surface, memory };
}

function digest(value: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(value) ?? '')
    .digest('hex');
}
