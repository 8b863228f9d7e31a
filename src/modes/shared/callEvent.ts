import { isToolId } from '../../catalog/toolId.ts';
import type { CatalogTool } from '../../catalog/types.ts';
import type { Fault } from '../../errors/fault.ts';
import type { GatewayError } from '../../errors/gatewayError.ts';
import type { RequestEnd } from '../../telemetry/counters.ts';
import type { EventName } from '../../telemetry/diagnosticEvent.ts';
import type { TokenMeter } from './catalog/tokenMeter.ts';
import type { GatewayTool } from './gatewayTools.ts';

/** Record of one call for telemetry and the event log: counts and names, never a value that somebody gave. */
export interface CallEvent {
  event: EventName;
  success: boolean;
  toolId: string | null;
  namespace: string | null;
  /** Name of the gateway's own tool that was called, or `(unknown)`. */
  method: string;
  end: RequestEnd;
  retries: number;
  /** The call reached a server, whatever the outcome. */
  dispatched: boolean;
  error?: { code: string; message: string };
  /** Fault behind the error. */
  fault?: Fault | undefined;
  /** Counts tokens, so it runs when the event is written and not before the answer. */
  attributes(meter: TokenMeter): Record<string, unknown>;
}

/** Stands for a name that a caller made up. */
export const UNKNOWN = '(unknown)';

/** Makes the event of a call that succeeded, unless `more` says otherwise. */
export function completedEvent({ definition, event }: GatewayTool, more: Partial<CallEvent> = {}): CallEvent {
  return {
    event: `${event}.completed`,
    success: true,
    toolId: null,
    namespace: null,
    method: definition.name,
    end: 'ok',
    retries: 0,
    dispatched: false,
    attributes: () => ({}),
    ...more,
  };
}

/** Makes the event of a call that failed. Without a tool, it is the call of a name that the caller made up. */
export function failedEvent(tool: GatewayTool | undefined, error: GatewayError, more: Partial<CallEvent>): CallEvent {
  const { code, message, details, fault } = error;
  return {
    event: tool ? `${tool.event}.failed` : 'call.failed',
    success: false,
    toolId: null,
    namespace: null,
    method: tool?.definition.name ?? UNKNOWN,
    end: endOf(error),
    retries: Math.max(0, Number(details?.attempts ?? 1) - 1),
    dispatched: false,
    error: { code, message },
    fault,
    attributes: () => ({ error_code: code }),
    ...more,
  };
}

export function ofTool({ id: toolId, namespace }: CatalogTool): Pick<CallEvent, 'toolId' | 'namespace'> {
  return { toolId, namespace };
}

/** Names the tool of a failed call, unless the caller made up its id. */
export function namedTool(
  toolId: string,
  toolOf: (toolId: string) => CatalogTool | undefined,
): Pick<CallEvent, 'toolId' | 'namespace'> {
  const named = isToolId(toolId) ? toolId : UNKNOWN;
  return { toolId: toolId === '' ? null : named, namespace: toolOf(toolId)?.namespace ?? null };
}

/** End of a call whose server answered with an error of its own. */
export function answeredWithError({ server }: CatalogTool): Partial<CallEvent> {
  const message = `${server} answered with an error of its own.`;
  return { success: false, end: 'answered_with_error', error: { code: 'UPSTREAM_ERROR', message } };
}

/** Returns whether a failed call reached its server. */
export function wasDispatched({ code, details }: GatewayError): boolean {
  return (code.startsWith('UPSTREAM_') || code === 'CANCELLED') && details?.outcome !== 'not_dispatched';
}

/** Returns the end of a failed call: lost if it was sent and never answered, or if its server was unreachable. */
function endOf({ code, details }: GatewayError): RequestEnd {
  const lost = code === 'UPSTREAM_TIMEOUT' || code === 'UPSTREAM_UNAVAILABLE' || details?.outcome === 'unknown';
  return lost ? 'lost' : 'answered_with_error';
}
