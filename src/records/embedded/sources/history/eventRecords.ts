import { hash } from 'node:crypto';
import { isRecord } from '../../../../lib/isRecord.ts';
import type { DraftRecord } from '../../store/recordWriter.ts';

/** Record that a line of the event log becomes, with its stream. */
export interface StreamRecord {
  readonly stream: string;
  readonly record: DraftRecord;
}

/** Events of calls by the family of their names; all others are about servers and the worker. */
const CALL_FAMILIES = new Set(['execute', 'hydrate', 'view', 'read', 'call']);
const FAULT_KINDS: Readonly<Record<string, string>> = {
  'upstream.crashed': 'crashed',
  'upstream.failed': 'failed',
  'upstream.restarting': 'restarting',
  'upstream.waiting': 'waiting',
  'worker.lost': 'worker_lost',
  'log.dropped': 'log_dropped',
};

/** Returns the records of one event. Lines of other forms, such as the records of libmcp, give none. */
export function eventRecords(event: Record<string, unknown>, text: string): StreamRecord[] {
  const { event: name, timestamp: at, attributes } = event;
  if (typeof name !== 'string' || typeof at !== 'string' || !isRecord(attributes)) return [];
  const id = hash('sha256', text, 'hex').slice(0, 20);
  const family = name.split('.')[0] as string;
  if (family === 'browse') return [{ stream: 'browses', record: draft(id, browseOf(event, attributes)) }];
  if (CALL_FAMILIES.has(family)) {
    const call = callOf(event, attributes, family);
    const fault = {
      at,
      kind: 'call',
      call_id: `c_${id}`,
      ...named(call, ['server', 'fault', 'error_code', 'tool', 'session_id']),
    };
    return [
      { stream: 'calls', record: draft(`c_${id}`, call) },
      ...(call.fault === undefined ? [] : [{ stream: 'faults', record: draft(id, fault) }]),
    ];
  }
  const kind = FAULT_KINDS[name];
  return kind === undefined ? [] : [{ stream: 'faults', record: draft(id, serverFault(event, attributes, kind)) }];
}

/** Names a session by a hash: over HTTP its id admits its bearer, and masking would make all sessions one. */
function sessionName(id: unknown): string | undefined {
  return typeof id === 'string' ? `s_${hash('sha256', id, 'hex').slice(0, 12)}` : undefined;
}

function draft(id: string, data: Record<string, unknown>): DraftRecord {
  return { key: id, data: { id, ...data }, emittedAt: String(data.at) };
}

function callOf(
  { timestamp, success, duration_ms, session_id, tool_id, namespace }: Record<string, unknown>,
  attributes: Record<string, unknown>,
  kind: string,
): Record<string, unknown> {
  return {
    at: timestamp,
    kind,
    server: attributes.server ?? namespace,
    tool: toolName(tool_id),
    tool_id,
    session_id: sessionName(session_id),
    client: attributes.client,
    outcome: success === true ? 'ok' : 'error',
    error_code: attributes.error_code ?? (success === true ? undefined : 'UPSTREAM_ERROR'),
    fault: attributes.fault,
    duration_ms,
    tokens_in: attributes.raw_tokens,
    tokens_out: attributes.compact_tokens ?? attributes.result_tokens,
    tokens_saved: attributes.tokens_saved,
    attempts: attributes.attempts,
    cache_hit: attributes.cache_hit,
    argument_names: attributes.arg_keys,
    results:
      attributes.artifact_refs ?? (attributes.artifact_ref === undefined ? undefined : [attributes.artifact_ref]),
  };
}

function browseOf(
  { timestamp, success, duration_ms, session_id }: Record<string, unknown>,
  attributes: Record<string, unknown>,
): Record<string, unknown> {
  return {
    at: timestamp,
    session_id: sessionName(session_id),
    outcome: success === true ? 'ok' : 'error',
    duration_ms,
    ...named(attributes, [
      'client',
      'error_code',
      'query_chars',
      'path_depth',
      'card_count',
      'card_tokens',
      'tool_ids',
    ]),
  };
}

function serverFault(
  { timestamp, namespace }: Record<string, unknown>,
  attributes: Record<string, unknown>,
  kind: string,
): Record<string, unknown> {
  const { reason, state, count } = attributes;
  const words = reason ?? (state === undefined ? undefined : `It is ${String(state)}.`);
  return {
    at: timestamp,
    kind,
    server: namespace,
    fault: typeof reason === 'string' ? /\(?(\w+\/\w+)\)?\.?$/.exec(reason)?.[1] : undefined,
    reason: count === undefined ? words : `${String(count)} events were dropped: ${String(reason)}`,
    ...named(attributes, ['generation', 'consecutive_failures', 'restart_count']),
  };
}

/** Name of a tool in its id: `read_file` in `files:read_file#0a1b2c3d`. */
export function toolName(toolId: unknown): string | undefined {
  if (typeof toolId !== 'string') return undefined;
  return /^[^:]*:(.+?)(?:@[\w.-]+)?(?:#[0-9a-f]{8})?$/.exec(toolId)?.[1] ?? toolId;
}

function named(values: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}
