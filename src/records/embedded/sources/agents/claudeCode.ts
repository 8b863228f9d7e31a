import { isRecord } from '../../../../lib/isRecord.ts';
import type { LogPlace } from './agentLogs.ts';
import { type AgentRecords, numberOf, stringOf, type Tokens, textOf } from './agentRecords.ts';

/** Line of a Claude Code log. The parts of one message are lines of their own, which repeat its id and its usage. */
export function claudeCodeLine(records: AgentRecords, line: Record<string, unknown>, place: LogPlace): string {
  const session = stringOf(line.sessionId) || place.name;
  const time = line.timestamp;
  const known = records.session(session, time, { folder: line.cwd, branch: line.gitBranch });
  if (!known) return '';
  const message = isRecord(line.message) ? line.message : undefined;
  const id = stringOf(line.uuid) || `line-${place.line}`;
  if (line.type === 'assistant' && message) assistant(records, { session, id, time, message, line });
  else if (line.type === 'user' && message && line.isMeta !== true) user(records, { session, id, time, message });
  else if (line.type === 'system' && line.level === 'error') {
    const text = textOf(line.content) || textOf(isRecord(line.error) ? line.error.message : line.error);
    records.error(session, { id, time, kind: 'api', message: text });
  }
  return session;
}

interface Message {
  session: string;
  id: string;
  time: unknown;
  message: Record<string, unknown>;
}

function assistant(
  records: AgentRecords,
  { session, id, time, message, line }: Message & { line: Record<string, unknown> },
): void {
  const content = Array.isArray(message.content) ? message.content.filter(isRecord) : [];
  const text = typeof message.content === 'string' ? message.content : textOf(content);
  if (line.isApiErrorMessage === true) {
    records.error(session, { id, time, kind: 'api', message: text });
    return;
  }
  const turn = stringOf(message.id) || id;
  records.turn(session, {
    id: turn,
    time,
    role: 'assistant',
    text,
    model: message.model,
    tokens: tokensOf(message.usage),
  });
  for (const part of content) {
    if (part.type !== 'tool_use') continue;
    records.toolCall(session, { id: stringOf(part.id), time, name: stringOf(part.name), args: part.input });
  }
}

function user(records: AgentRecords, { session, id, time, message }: Message): void {
  const parts = Array.isArray(message.content) ? message.content.filter(isRecord) : [];
  for (const part of parts) {
    if (part.type !== 'tool_result') continue;
    const result = { id: stringOf(part.tool_use_id), time, text: textOf(part.content), failed: part.is_error === true };
    records.toolResult(session, result);
  }
  const text = typeof message.content === 'string' ? message.content : textOf(parts);
  if (text !== '') records.turn(session, { id, time, role: 'user', text });
}

/** Tokens that were read anew; those of the cache are counted apart. */
function tokensOf(usage: unknown): Tokens {
  if (!isRecord(usage)) return {};
  const written = numberOf(usage.cache_creation_input_tokens) ?? 0;
  return {
    tokens_in: (numberOf(usage.input_tokens) ?? 0) + written,
    tokens_cached: numberOf(usage.cache_read_input_tokens),
    tokens_out: numberOf(usage.output_tokens),
  };
}
