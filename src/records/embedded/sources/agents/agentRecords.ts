import { isRecord, parseRecord } from '../../../../lib/isRecord.ts';
import { scrubSecrets } from '../../../../secrets/mask.ts';
import type { RecordWriter } from '../../store/recordWriter.ts';
import { isoTime } from '../../store/values.ts';

export type AgentName = 'claude-code' | 'codex' | 'copilot-cli';

/** Longest text that is masked; what is kept of it is shorter, so that no secret is cut before it is masked. */
const MAX_MASKED_CHARS = 64 * 1024;
const MAX_TEXT_CHARS = 32 * 1024;
const MAX_RESULT_CHARS = 8 * 1024;
const MAX_TITLE_CHARS = 120;
/** Age above which lines are not loaded. */
export const KEPT_MS = 365 * 24 * 60 * 60 * 1_000;

interface SessionFacts {
  folder?: unknown;
  branch?: unknown;
  model?: unknown;
}

export interface Tokens {
  readonly tokens_in?: number | undefined;
  readonly tokens_cached?: number | undefined;
  readonly tokens_out?: number | undefined;
}

const TOKENS = ['tokens_in', 'tokens_cached', 'tokens_out'] as const;

/** Writes what the logs of an agent say as records of sessions, turns, tool calls and errors. */
export class AgentRecords {
  readonly #writer: RecordWriter;
  readonly #agent: AgentName;
  readonly #oldest: string;
  /** Sessions that were touched since the last `flush`. */
  readonly #sessions = new Map<string, Record<string, unknown>>();

  constructor(writer: RecordWriter, agent: AgentName, now: number) {
    this.#writer = writer;
    this.#agent = agent;
    this.#oldest = new Date(now - KEPT_MS).toISOString();
  }

  /** Writes the touched sessions. Call before the progress is saved. */
  flush(): void {
    for (const [id, data] of this.#sessions)
      this.#writer.put('sessions', { key: id, data, emittedAt: String(data.ended_at) });
    this.#sessions.clear();
  }

  /** Notes facts about a session. Returns false for a line without a usable time, or an old one. */
  session(id: string, time: unknown, facts: SessionFacts = {}): boolean {
    const at = isoTime(time);
    if (at === undefined || at < this.#oldest || id === '') return false;
    const data = this.#session(id, at);
    if (at < String(data.started_at)) data.started_at = at;
    if (at > String(data.ended_at)) data.ended_at = at;
    for (const [name, value] of Object.entries(facts)) {
      if (typeof value === 'string' && value !== '') data[name] = masked(value, 1_000);
    }
    return true;
  }

  /** Adds a turn, or the next part of a turn that is written in parts. Tokens of a turn replace those of its last part. */
  turn(
    session: string,
    {
      id,
      time,
      role,
      text,
      model,
      tokens = {},
    }: { id: string; time: unknown; role: string; text: string; model?: unknown; tokens?: Tokens },
  ): void {
    if (!this.session(session, time, { model })) return;
    const key = `${session}:${id}`;
    const before = this.#writer.read('turns', key);
    const data = this.#session(session, '');
    if (!before) data.turns = Number(data.turns ?? 0) + 1;
    for (const name of TOKENS) {
      data[name] =
        Number(data[name] ?? 0) + (tokens[name] ?? Number(before?.[name] ?? 0)) - Number(before?.[name] ?? 0);
    }
    const words = masked(text, MAX_TEXT_CHARS);
    if (role === 'user' && words !== '' && (data.title ?? '') === '') data.title = words.slice(0, MAX_TITLE_CHARS);
    const parts = [before?.text, words].filter((part) => typeof part === 'string' && part !== '');
    const base = { id: key, at: before?.at ?? isoTime(time), agent: this.#agent, session_id: session, role };
    const used = Object.fromEntries(TOKENS.map((name) => [name, tokens[name] ?? before?.[name]]));
    this.#put('turns', key, {
      ...base,
      model: model ?? before?.model,
      text: parts.join('\n').slice(0, MAX_TEXT_CHARS),
      ...used,
    });
  }

  /** Adds tokens to a session whose log counts them apart from its turns. */
  used(session: string, time: unknown, tokens: Tokens): void {
    if (!this.session(session, time)) return;
    const data = this.#session(session, '');
    for (const name of TOKENS) data[name] = Number(data[name] ?? 0) + (tokens[name] ?? 0);
  }

  toolCall(
    session: string,
    { id, time, name, args }: { id: string; time: unknown; name: string; args: unknown },
  ): void {
    if (!this.session(session, time)) return;
    const key = `${session}:${id}`;
    if (this.#writer.read('tool_calls', key)) return;
    const data = this.#session(session, '');
    data.tool_calls = Number(data.tool_calls ?? 0) + 1;
    const text = typeof args === 'string' ? args : JSON.stringify(args ?? {});
    this.#put('tool_calls', key, {
      id: key,
      at: isoTime(time),
      agent: this.#agent,
      session_id: session,
      ...toolNames(name),
      file: fileIn(args),
      arguments: masked(text, MAX_RESULT_CHARS),
    });
  }

  toolResult(
    session: string,
    { id, time, text, failed }: { id: string; time: unknown; text: string; failed: boolean },
  ): void {
    if (!this.session(session, time)) return;
    const key = `${session}:${id}`;
    const call = this.#writer.read('tool_calls', key);
    if (!call || (call.outcome !== null && call.outcome !== undefined)) return;
    const ended = isoTime(time) as string;
    const result = masked(text, MAX_RESULT_CHARS);
    const took = Date.parse(ended) - Date.parse(String(call.at));
    this.#put('tool_calls', key, {
      ...call,
      outcome: failed ? 'error' : 'ok',
      result,
      ended_at: ended,
      duration_ms: Math.max(0, took),
    });
    if (failed) this.error(session, { id, time, kind: 'tool', message: text, tool: String(call.tool), callKey: key });
  }

  error(
    session: string,
    {
      id,
      time,
      kind,
      message,
      tool,
      callKey,
    }: { id: string; time: unknown; kind: string; message: string; tool?: string; callKey?: string },
  ): void {
    if (!this.session(session, time)) return;
    const key = `${session}:${id}:error`;
    if (this.#writer.read('errors', key)) return;
    const data = this.#session(session, '');
    data.errors = Number(data.errors ?? 0) + 1;
    this.#put('errors', key, {
      id: key,
      at: isoTime(time),
      agent: this.#agent,
      session_id: session,
      kind,
      tool,
      tool_call_id: callKey,
      message: masked(message, MAX_RESULT_CHARS),
    });
  }

  /** Removes a session with everything in it. */
  remove(session: string): void {
    for (const stream of ['turns', 'tool_calls', 'errors']) this.#writer.deleteWhere(stream, 'session_id', session);
    this.#writer.delete('sessions', session);
    this.#sessions.delete(session);
  }

  #session(id: string, at: string): Record<string, unknown> {
    const known = this.#sessions.get(id) ?? this.#writer.read('sessions', id);
    const data = known ?? { id, agent: this.#agent, started_at: at, ended_at: at, turns: 0, tool_calls: 0, errors: 0 };
    this.#sessions.set(id, data);
    return data;
  }

  #put(stream: string, key: string, data: Record<string, unknown>): void {
    this.#writer.put(stream, { key, data, emittedAt: String(data.ended_at ?? data.at) });
  }
}

function masked(text: string, limit: number): string {
  return scrubSecrets(text.slice(0, MAX_MASKED_CHARS)).slice(0, limit);
}

/** Server and tool in the name of an agent's tool: `mcp__github__get_issue`, `github-get_issue` stays as it is. */
function toolNames(name: string): { tool: string; server?: string } {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  return server !== undefined && tool !== undefined ? { tool, server } : { tool: name };
}

const FILE_ARGUMENTS = ['file_path', 'filePath', 'path', 'notebook_path', 'file', 'filename', 'directory'];

function fileIn(args: unknown): string | undefined {
  const given = isRecord(args) ? args : typeof args === 'string' ? parseRecord(args) : undefined;
  const path = FILE_ARGUMENTS.map((name) => given?.[name]).find((value) => typeof value === 'string');
  return path === undefined ? undefined : masked(path as string, 1_000);
}

/** Returns the text of a message or a tool result: of its text parts, or the value as JSON. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return content === undefined || content === null ? '' : JSON.stringify(content);
  return content
    .flatMap((part: unknown) => {
      if (typeof part === 'string') return [part];
      return isRecord(part) && typeof part.text === 'string' ? [part.text] : [];
    })
    .join('\n');
}

export const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
export const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '');
