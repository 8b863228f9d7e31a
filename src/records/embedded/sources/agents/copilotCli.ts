import { isRecord } from '../../../../lib/isRecord.ts';
import type { LogPlace } from './agentLogs.ts';
import { type AgentRecords, numberOf, stringOf, textOf } from './agentRecords.ts';

/** Line of a Copilot CLI log: an event with its data. */
export function copilotCliLine(records: AgentRecords, line: Record<string, unknown>, place: LogPlace): string {
  const data = isRecord(line.data) ? line.data : {};
  const session = place.name;
  const time = line.timestamp;
  const context = isRecord(data.context) ? data.context : {};
  const facts = { folder: context.cwd, branch: context.branch, model: data.selectedModel ?? data.newModel };
  if (!records.session(session, time, facts)) return '';
  const id = stringOf(line.id) || `line-${place.line}`;
  switch (line.type) {
    case 'user.message':
      records.turn(session, { id, time, role: 'user', text: textOf(data.content) });
      break;
    case 'assistant.message': {
      const tokens = { tokens_out: numberOf(data.outputTokens) };
      const turn = stringOf(data.messageId) || id;
      records.turn(session, {
        id: turn,
        time,
        role: 'assistant',
        text: textOf(data.content),
        model: data.model,
        tokens,
      });
      break;
    }
    case 'assistant.usage':
      records.used(session, time, {
        tokens_in: numberOf(data.inputTokens),
        tokens_cached: numberOf(data.cacheReadTokens),
        tokens_out: numberOf(data.outputTokens),
      });
      break;
    case 'tool.execution_start':
      records.toolCall(session, {
        id: stringOf(data.toolCallId) || id,
        time,
        name: nameOf(data),
        args: data.arguments,
      });
      break;
    case 'tool.execution_complete': {
      const failed = data.success === false;
      const error = isRecord(data.error) ? data.error.message : data.error;
      const content = isRecord(data.result) ? data.result.content : data.result;
      records.toolResult(session, {
        id: stringOf(data.toolCallId),
        time,
        text: textOf(failed ? (error ?? content) : content),
        failed,
      });
      break;
    }
    case 'session.error':
      records.error(session, { id, time, kind: 'session', message: textOf(data.message) });
      break;
  }
  return session;
}

/** Name of a tool with its MCP server, in the form of the other agents. */
function nameOf({ toolName, mcpServerName, mcpToolName }: Record<string, unknown>): string {
  const server = stringOf(mcpServerName);
  return server === '' ? stringOf(toolName) : `mcp__${server}__${stringOf(mcpToolName) || stringOf(toolName)}`;
}
