import { isRecord } from '../lib/isRecord.ts';

const RELATED_TASK = 'io.modelcontextprotocol/related-task';

/** Returns whether a value may be the `_meta` of a message. Members that MCP does not define may be anything. */
export function isMeta(value: unknown): value is Record<string, unknown> | undefined {
  if (value === undefined) return true;
  if (!isRecord(value)) return false;
  const { progressToken, [RELATED_TASK]: task } = value;
  const isToken =
    progressToken === undefined || typeof progressToken === 'string' || Number.isSafeInteger(progressToken);
  return isToken && (task === undefined || (isRecord(task) && typeof task.taskId === 'string'));
}
