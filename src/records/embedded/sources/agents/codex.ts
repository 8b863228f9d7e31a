import { isRecord, parseRecord } from '../../../../lib/isRecord.ts';
import type { LogPlace } from './agentLogs.ts';
import { type AgentRecords, numberOf, stringOf, textOf } from './agentRecords.ts';

/** Id at the end of the name of a log: `rollout-2026-01-02T03-04-05-<id>`. */
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
/** Beginnings of messages that Codex itself adds as the user. */
const ADDED = /^<(?:environment_context|user_instructions|permissions|INSTRUCTIONS|turn_aborted)/;

/** Line of a Codex log: an envelope with a payload. */
export function codexLine(records: AgentRecords, line: Record<string, unknown>, place: LogPlace): string {
  const payload = isRecord(line.payload) ? line.payload : {};
  const session = ID.exec(place.name)?.[0] ?? place.name;
  const time = line.timestamp;
  const git = isRecord(payload.git) ? payload.git : {};
  const facts = { folder: payload.cwd, branch: git.branch, model: payload.model };
  const hasFacts = line.type === 'session_meta' || line.type === 'turn_context';
  if (!records.session(session, time, hasFacts ? facts : {})) return '';
  const id = `line-${place.line}`;
  if (line.type === 'response_item') responseItem(records, { session, id, time, payload });
  else if (line.type === 'event_msg') event(records, { session, id, time, payload });
  return session;
}

interface Item {
  session: string;
  id: string;
  time: unknown;
  payload: Record<string, unknown>;
}

function responseItem(records: AgentRecords, { session, id, time, payload }: Item): void {
  const callId = stringOf(payload.call_id) || id;
  switch (payload.type) {
    case 'message': {
      const text = textOf(payload.content);
      const role = stringOf(payload.role);
      const isOwn = role === 'assistant' || (role === 'user' && !ADDED.test(text));
      if (isOwn && text !== '') records.turn(session, { id, time, role, text });
      break;
    }
    case 'function_call':
      records.toolCall(session, { id: callId, time, name: stringOf(payload.name), args: payload.arguments });
      break;
    case 'custom_tool_call':
      records.toolCall(session, { id: callId, time, name: stringOf(payload.name), args: payload.input });
      break;
    case 'local_shell_call':
      records.toolCall(session, { id: callId, time, name: 'shell', args: payload.action });
      break;
    case 'function_call_output':
    case 'custom_tool_call_output':
      records.toolResult(session, { id: callId, time, ...outputOf(payload.output) });
      break;
  }
}

/** An output is text, JSON with `output` and the exit code, or an object with `success`. */
function outputOf(output: unknown): { text: string; failed: boolean } {
  const parsed = isRecord(output) ? output : typeof output === 'string' ? parseRecord(output) : undefined;
  if (!parsed) {
    const text = textOf(output);
    return { text, failed: /^(?:Process exited with code|Exit code:) [1-9]/m.test(text.slice(0, 400)) };
  }
  const { exit_code: code } = isRecord(parsed.metadata) ? parsed.metadata : {};
  const text = textOf(parsed.output ?? parsed.content ?? parsed);
  return { text, failed: parsed.success === false || (typeof code === 'number' && code !== 0) };
}

function event(records: AgentRecords, { session, id, time, payload }: Item): void {
  if (payload.type === 'error' || payload.type === 'stream_error') {
    records.error(session, { id, time, kind: 'api', message: stringOf(payload.message) });
  }
  const info = isRecord(payload.info) ? payload.info : {};
  const last = payload.type === 'token_count' && isRecord(info.last_token_usage) ? info.last_token_usage : undefined;
  if (!last) return;
  const cached = numberOf(last.cached_input_tokens) ?? 0;
  records.used(session, time, {
    tokens_in: Math.max(0, (numberOf(last.input_tokens) ?? 0) - cached),
    tokens_cached: cached,
    tokens_out: numberOf(last.output_tokens),
  });
}
