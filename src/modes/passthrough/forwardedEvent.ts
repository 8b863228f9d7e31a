import type { CatalogTool } from '../../catalog/types.ts';
import { type CallEvent, UNKNOWN } from '../shared/callEvents.ts';

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

/** The same for what was read; of an address that nobody lists nothing is told: somebody gave it. */
export function forwardedReadEvent(method: 'resource_read' | 'prompt_get', read: CatalogTool | undefined): CallEvent {
  return {
    event: 'read.completed',
    success: true,
    toolId: read?.id ?? UNKNOWN,
    namespace: read?.namespace ?? null,
    method,
    end: 'ok',
    retries: 0,
    dispatched: true,
    attributes: () => ({}),
  };
}
