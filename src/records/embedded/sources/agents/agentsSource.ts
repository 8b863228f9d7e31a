import { parseRecord } from '../../../../lib/isRecord.ts';
import type { ConnectionDeclaration } from '../../store/declaration.ts';
import type { RecordWriter } from '../../store/recordWriter.ts';
import { LineFile, type LineState } from '../lineFile.ts';
import { PART_ROWS, type RecordSource } from '../recordSource.ts';
import { type AgentFormat, agentLogs, type LogFile, sessionName } from './agentLogs.ts';
import { AgentRecords, KEPT_MS } from './agentRecords.ts';
import { AGENT_STREAMS } from './agentStreams.ts';

export const AGENTS_ID = 'agents';

/** Progress in one log. */
interface LogState {
  readonly place: LineState;
  readonly agent: AgentFormat['agent'];
  /** Sessions with records from this log. */
  readonly sessions: readonly string[];
}

/** Session logs of the user's agents: what they said, which tools they called, and what failed. */
export class AgentsSource implements RecordSource {
  readonly connection: ConnectionDeclaration = {
    id: AGENTS_ID,
    connectorKey: 'agent-logs',
    displayName: 'Session logs of your agents',
  };
  readonly #home: string;
  readonly #malformed: (count: number) => void;
  readonly #now: () => number;

  constructor(home: string, malformed: (count: number) => void, now: () => number = Date.now) {
    this.#home = home;
    this.#malformed = malformed;
    this.#now = now;
  }

  streams(): typeof AGENT_STREAMS {
    return AGENT_STREAMS;
  }

  *load(writer: RecordWriter): Generator<void> {
    const logs = agentLogs(this.#home);
    const states = new Map(writer.progressItems('log:').map((item) => [item, stateIn(writer.progressOf(item))]));
    const present = new Set(logs.map(({ path }) => `log:${path}`));
    for (const item of [...states.keys()]) if (!present.has(item)) this.#forget(writer, states, item);
    const changed = logs.filter(({ path, size }) => states.get(`log:${path}`)?.place.offset !== size);
    // Sessions of a replaced log may be in other logs too, so all of these are read again.
    for (const { path } of changed) {
      const item = `log:${path}`;
      if (isReplaced(path, states.get(item))) this.#forget(writer, states, item);
    }
    for (const log of logs) {
      const item = `log:${log.path}`;
      const before = states.get(item);
      if (before?.place.offset !== log.size) states.set(item, yield* this.#log(writer, log, before));
    }
    const oldest = new Date(this.#now() - KEPT_MS).toISOString();
    for (const { name } of AGENT_STREAMS) writer.expire(name, oldest);
    this.#malformed([...states.values()].reduce((sum, state) => sum + (state?.place.malformed ?? 0), 0));
  }

  *#log(writer: RecordWriter, { format, path }: LogFile, before: LogState | undefined): Generator<void, LogState> {
    const file = new LineFile(path, before?.place);
    const records = new AgentRecords(writer, format.agent, this.#now());
    const sessions = new Set(before?.sessions);
    const name = sessionName(path);
    const state = (): LogState => ({ place: file.state, agent: format.agent, sessions: [...sessions] });
    const save = (): void => {
      records.flush();
      writer.progress(`log:${path}`, JSON.stringify(state()));
    };
    try {
      let rows = 0;
      for (const { value, line } of file.read()) {
        const session = format.line(records, value, { name, line });
        if (session !== '') sessions.add(session);
        rows += 1;
        if (rows % PART_ROWS !== 0) continue;
        if (writer.isFull) {
          save();
          writer.commit();
        }
        yield;
      }
      save();
      return state();
    } finally {
      file.close();
    }
  }

  /** Removes the sessions of a log, and the progress of every log that has a part of them. */
  #forget(writer: RecordWriter, states: Map<string, LogState | undefined>, item: string): void {
    const state = states.get(item);
    states.delete(item);
    writer.forgetProgress(item);
    if (!state) return;
    const records = new AgentRecords(writer, state.agent, this.#now());
    for (const session of state.sessions) records.remove(session);
    for (const [other, { sessions } = { sessions: [] }] of states) {
      if (sessions.some((session) => state.sessions.includes(session))) this.#forget(writer, states, other);
    }
  }
}

function isReplaced(path: string, before: LogState | undefined): boolean {
  if (!before) return false;
  const file = new LineFile(path, before.place);
  file.close();
  return file.restarted;
}

function stateIn(text: string | undefined): LogState | undefined {
  const value = text === undefined ? undefined : parseRecord(text);
  return value === undefined ? undefined : (value as unknown as LogState);
}
