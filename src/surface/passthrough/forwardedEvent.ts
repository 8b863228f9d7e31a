import type { CatalogTool } from '../../catalog/types.ts';
import type { CallEvent } from '../gateway/callEvents.ts';

/** What a call was that went to its server as it came, for telemetry: its answer is nobody's to look into. */
export function forwardedEvent({ id, namespace, server }: CatalogTool, isError: boolean): CallEvent {
  return {
    event: 'execute.completed',
    success: !isError,
    toolId: id,
    namespace,
    method: 'tool_execute',
    end: isError ? 'answered_with_error' : 'ok',
    retries: 0,
    dispatched: true,
    ...(isError ? { error: { code: 'UPSTREAM_ERROR', message: `${server} answered with an error of its own.` } } : {}),
    attributes: () => ({ status: isError ? 'error' : 'ok', forwarded: true }),
  };
}
