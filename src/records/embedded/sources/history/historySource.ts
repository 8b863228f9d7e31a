import { readdirSync, statSync } from 'node:fs';
import * as files from 'node:fs/promises';
import { join } from 'node:path';
import { parseRecord } from '../../../../lib/isRecord.ts';
import { readBoundedText, readOwnText } from '../../../../lib/readBounded.ts';
import { openOwn, readAt, readInfo } from '../../../../results/artifacts/artifactFile.ts';
import { WORKSPACE_OWNER } from '../../../../results/artifacts/artifactStore.ts';
import { scrubSecrets } from '../../../../secrets/mask.ts';
import { scrubValue } from '../../../../secrets/scrubValue.ts';
import type { ConnectionDeclaration } from '../../store/declaration.ts';
import type { RecordWriter } from '../../store/recordWriter.ts';
import { LineFile, parseLineState } from '../lineFile.ts';
import { PART_ROWS, type RecordSource } from '../recordSource.ts';
import { eventRecords, toolName } from './eventRecords.ts';
import { HISTORY_STREAMS } from './historyStreams.ts';

export const HISTORY_ID = 'history';

export interface HistoryPlaces {
  /** State folder of the workspace: event log, results and allowed tools. */
  readonly stateFolder: string;
  /** The user's state folder, with the trust log of all workspaces. */
  readonly stateRoot: string;
  /** Name by which the trust log marks the entries of this workspace. */
  readonly workspace: string;
}

/** Age at which records of the history are removed. */
const KEPT_MS = 90 * 24 * 60 * 60 * 1_000;
const LOGGED = ['calls', 'faults', 'browses'];
/** Name of a file of the event log, the current one or a full one. */
const EVENT_FILE = /^events(?:\.\d{13}-\d+)?\.jsonl$/;
const MAX_LOG_BYTES = 65 * 1024 * 1024;
/** Beginning of a result whose words are kept. */
const MAX_TEXT_BYTES = 64 * 1024;
const TEXT_TYPE = /^text\/|[/+](?:json|xml|yaml|javascript|csv)\b/;

/** The gateway's own history: what the worker keeps anyway, in the form of records. */
export class HistorySource implements RecordSource {
  readonly connection: ConnectionDeclaration = {
    id: HISTORY_ID,
    connectorKey: 'waygate-history',
    displayName: 'Waygate history of this workspace',
  };
  readonly #places: HistoryPlaces;
  readonly #now: () => number;

  constructor(places: HistoryPlaces, now: () => number = Date.now) {
    this.#places = places;
    this.#now = now;
  }

  streams(): typeof HISTORY_STREAMS {
    return HISTORY_STREAMS;
  }

  async *load(writer: RecordWriter): AsyncGenerator<void> {
    yield* this.#events(writer);
    this.#decisions(writer);
    yield;
    yield* this.#results(writer);
    const oldest = new Date(this.#now() - KEPT_MS).toISOString();
    for (const stream of LOGGED) writer.expire(stream, oldest);
  }

  *#events(writer: RecordWriter): Generator<void> {
    const folder = this.#places.stateFolder;
    const names = listed(folder).filter((name) => EVENT_FILE.test(name));
    // Full files have a number in their names, and the current one is the newest.
    for (const name of names.sort((a, b) => (a.length < b.length ? 1 : a.length > b.length ? -1 : a < b ? -1 : 1))) {
      const path = join(folder, name);
      const found = statSync(path, { throwIfNoEntry: false });
      if (!found?.isFile()) continue;
      // A full file gets another name and stays the same file.
      const item = `events:${found.dev}:${found.ino}`;
      const before = parseLineState(writer.progressOf(item));
      if (before?.offset === found.size) continue;
      yield* this.#eventFile(writer, path, item);
    }
  }

  *#eventFile(writer: RecordWriter, path: string, item: string): Generator<void> {
    const file = new LineFile(path, parseLineState(writer.progressOf(item)));
    try {
      let rows = 0;
      for (const { value, text } of file.read()) {
        for (const { stream, record } of eventRecords(value, text)) {
          writer.put(stream, { ...record, data: scrubValue(record.data) as Record<string, unknown> });
        }
        rows += 1;
        if (rows % PART_ROWS !== 0) continue;
        if (writer.isFull) {
          writer.progress(item, JSON.stringify(file.state));
          writer.commit();
        }
        yield;
      }
      writer.progress(item, JSON.stringify(file.state));
    } finally {
      file.close();
    }
  }

  #decisions(writer: RecordWriter): void {
    const { stateRoot, stateFolder, workspace } = this.#places;
    const log = join(stateRoot, 'trust.jsonl');
    const allowed = join(stateFolder, 'tool-approvals.json');
    const stamp = JSON.stringify([stampOf(log), stampOf(allowed)]);
    if (writer.progressOf('decisions') === stamp) return;
    const kept = new Set<string>();
    for (const line of textOf(() => readBoundedText(log, { maxBytes: MAX_LOG_BYTES, own: true })).split('\n')) {
      const entry = parseRecord(line);
      // Entries of other workspaces name servers that this workspace must not show.
      if (entry?.workspace !== workspace || typeof entry.what !== 'string') continue;
      const { seq, ts: at, actor, what, pin } = entry;
      const subject = String(entry.subject);
      const id = `d_${String(seq)}`;
      const stream = what === 'tool' || what === 'server' ? 'trust' : 'approvals';
      kept.add(id);
      const data = { id, at, actor, what, action: subject.split(' ')[0], subject: scrubSecrets(subject), pin };
      writer.put(stream, { key: id, data, emittedAt: String(at) });
    }
    for (const toolId of allowedTools(allowed)) {
      const id = `allowed:${toolId}`;
      kept.add(id);
      const at = stampOf(allowed)?.modified;
      const before = writer.read('approvals', id)?.at;
      const data = { id, at: before ?? at, actor: 'person-question', what: 'tool', action: 'allow', subject: toolId };
      writer.put('approvals', { key: id, data });
    }
    writer.keepOnly('approvals', kept);
    writer.progress('decisions', stamp);
  }

  /** Loads new results with the beginning of their text, and removes those that are no longer kept. */
  async *#results(writer: RecordWriter): AsyncGenerator<void> {
    const folder = join(this.#places.stateFolder, 'artifacts');
    const names = new Set(listed(folder).filter((name) => /^[0-9a-f]{64}$/.test(name)));
    for (const item of writer.progressItems('result:')) {
      if (names.has(item.slice('result:'.length))) continue;
      writer.delete('results', String(writer.progressOf(item)));
      writer.forgetProgress(item);
    }
    let read = 0;
    for (const name of names) {
      if (writer.progressOf(`result:${name}`) !== undefined) continue;
      const record = await resultRecord(join(folder, name));
      if (record) writer.put('results', { key: String(record.handle), data: record, emittedAt: String(record.at) });
      writer.progress(`result:${name}`, record ? String(record.handle) : '');
      read += 1;
      if (read % 20 === 0) yield;
    }
  }
}

/** Reads an artifact that any session may open. Returns undefined for any other file. */
async function resultRecord(path: string): Promise<Record<string, unknown> | undefined> {
  let file: Awaited<ReturnType<typeof openOwn>>;
  try {
    file = await openOwn(files, path);
  } catch {
    return undefined;
  }
  try {
    const info = await readInfo(file);
    if (info?.owner !== WORKSPACE_OWNER) return undefined;
    const { handle, mediaType, label, size, lines, source } = info;
    const text = TEXT_TYPE.test(mediaType)
      ? (await readAt(file, 0, Math.min(size, MAX_TEXT_BYTES))).toString('utf8')
      : undefined;
    // A secret across the cut has lost its end, so the last word of a cut text is dropped.
    const whole = text !== undefined && size > MAX_TEXT_BYTES ? text.replace(/\S*$/, '') : text;
    return {
      handle,
      at: (await file.stat()).mtime.toISOString(),
      label: scrubSecrets(label, source?.server),
      media_type: mediaType,
      server: source?.server,
      tool: toolName(source?.id),
      tool_id: source?.id,
      size_bytes: size,
      lines,
      text: whole === undefined ? undefined : scrubSecrets(whole, source?.server),
    };
  } finally {
    await file.close();
  }
}

function allowedTools(file: string): string[] {
  try {
    const value: unknown = JSON.parse(readOwnText(file));
    return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function stampOf(file: string): { size: number; modified: string } | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found && { size: found.size, modified: found.mtime.toISOString() };
}

function textOf(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
