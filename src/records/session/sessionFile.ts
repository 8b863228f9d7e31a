import { createReadStream, statSync } from 'node:fs';
import { isRecord, parseRecord } from '../../lib/isRecord.ts';
import { readResult } from '../../results/envelope/resultParts.ts';
import { LongText } from '../../text/longText.ts';

/** Turn, call or result of a session, in the order of the file. */
export interface SessionItem {
  readonly id: string;
  /** `user_turn`, `agent_msg`, `tool_call`, `tool_result`, or another word of the file. */
  readonly type: string;
  readonly text: LongText;
  /** Id of the item that this one answers. The file may not have it. */
  readonly parentId: string | undefined;
}

export interface Session {
  readonly items: readonly SessionItem[];
  /** Numbers of the lines that are no items, from 1. */
  readonly skipped: readonly number[];
}

/** Error for a file that cannot be read as a session; the message is a sentence for the user. */
export class SessionError extends Error {
  override readonly name = 'SessionError';
  /** Whether there is no file to read. */
  readonly isAbsent: boolean;

  constructor(message: string, isAbsent = false) {
    super(message);
    this.isAbsent = isAbsent;
  }
}

const MAX_BYTES = 512 * 1024 * 1024;

/**
 * Reads a session in JSONL (M8.1): each line is an object with `id`, `type`, and `text` or `content`; `parent_id` names
 * the item that it answers. Lines of another form are skipped and reported.
 */
export async function readSession(file: string): Promise<Session> {
  checkFile(file);
  const [items, skipped] = [[] as SessionItem[], [] as number[]];
  let number = 0;
  const { createInterface } = await import('node:readline');
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })) {
    number += 1;
    if (line.trim() === '') continue;
    const item = itemOf(parseRecord(number === 1 ? line.replace(/^\ufeff/, '') : line));
    if (item === undefined) skipped.push(number);
    else items.push(item);
  }
  if (items.length === 0) {
    throw new SessionError(
      `${file} is no session: no line is a JSON object with "id", "type" and "text" or "content".`,
    );
  }
  return { items, skipped };
}

function checkFile(file: string): void {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined) throw new SessionError(`${file} does not exist.`, true);
  if (!stat.isFile()) throw new SessionError(`${file} is no regular file.`, true);
  if (stat.size > MAX_BYTES) throw new SessionError(`${file} is larger than ${MAX_BYTES / 1024 / 1024} MiB.`);
}

function itemOf(line: Record<string, unknown> | undefined): SessionItem | undefined {
  const { id, type, text, content, parent_id: parent } = line ?? {};
  if (typeof id !== 'string' || id === '' || typeof type !== 'string' || type === '') return undefined;
  const read = typeof text === 'string' ? new LongText([text]) : textOf(content, id);
  if (read === undefined) return undefined;
  return { id, type, text: read, parentId: typeof parent === 'string' ? parent : undefined };
}

/** Reads content as a text, as the result of an MCP tool, or else as JSON. */
function textOf(content: unknown, id: string): LongText | undefined {
  if (typeof content === 'string') return new LongText([content]);
  const parts = Array.isArray(content) ? content : isRecord(content) ? content.content : undefined;
  if (Array.isArray(parts) && parts.length > 0 && parts.every((part) => isRecord(part) && 'type' in part)) {
    const { fullText, binaries } = readResult(isRecord(content) ? content : { content }, id);
    const media = binaries.filter(({ kind }) => kind === 'image' || kind === 'audio');
    const others = media.map(({ kind, mediaType }) => `[${kind}, ${mediaType}]`);
    if (fullText.length === 0) return new LongText(others);
    return others.length === 0 ? fullText : new LongText([...fullText.chunks(), ['', ...others].join('\n')], '');
  }
  return content === undefined || content === null ? undefined : new LongText([JSON.stringify(content, null, 2)]);
}
