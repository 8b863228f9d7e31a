import type { StreamDeclaration } from '../../store/declaration.ts';

const TEXT = { type: 'string' } as const;
const NAME = { type: 'string', groupBy: true, distinct: true } as const;
const WORDS = { type: 'string', lexical: true } as const;
const NAMED_WORDS = { ...NAME, lexical: true } as const;
const TIME = { type: 'date-time' } as const;
const COUNT = { type: 'integer' } as const;

const OF_SESSION = { stream: 'sessions', cardinality: 'has_one', foreignKey: 'session_id' } as const;
const TO_SESSION = { name: 'session', ...OF_SESSION, defaultLimit: 1, maxLimit: 1 } as const;
const many = (stream: string) =>
  ({
    name: stream,
    stream,
    cardinality: 'has_many',
    foreignKey: 'session_id',
    defaultLimit: 10,
    maxLimit: 50,
  }) as const;

export const SESSIONS: StreamDeclaration = {
  name: 'sessions',
  semantics: 'mutable_state',
  primaryKey: 'id',
  timeField: 'started_at',
  fields: {
    id: TEXT,
    /** `claude-code`, `codex` or `copilot-cli`. */
    agent: NAME,
    started_at: TIME,
    ended_at: TIME,
    title: WORDS,
    folder: NAMED_WORDS,
    branch: NAME,
    model: NAME,
    turns: COUNT,
    tool_calls: COUNT,
    errors: COUNT,
    tokens_in: COUNT,
    tokens_cached: COUNT,
    tokens_out: COUNT,
  },
  relations: [many('turns'), many('tool_calls'), many('errors')],
};

export const TURNS: StreamDeclaration = {
  name: 'turns',
  semantics: 'mutable_state',
  primaryKey: 'id',
  timeField: 'at',
  fields: {
    id: TEXT,
    at: TIME,
    agent: NAME,
    session_id: NAME,
    /** `user` or `assistant`. */
    role: NAME,
    model: NAME,
    text: WORDS,
    tokens_in: COUNT,
    tokens_cached: COUNT,
    tokens_out: COUNT,
  },
  relations: [TO_SESSION],
};

export const TOOL_CALLS: StreamDeclaration = {
  name: 'tool_calls',
  semantics: 'mutable_state',
  primaryKey: 'id',
  timeField: 'at',
  fields: {
    id: TEXT,
    at: TIME,
    agent: NAME,
    session_id: NAME,
    tool: NAMED_WORDS,
    /** MCP server in the name of the tool. */
    server: NAMED_WORDS,
    /** File or folder that an argument names. */
    file: NAMED_WORDS,
    arguments: WORDS,
    /** `ok` or `error`; absent while there is no result. */
    outcome: NAME,
    result: WORDS,
    ended_at: TIME,
    duration_ms: { type: 'number' },
  },
  relations: [TO_SESSION],
};

export const ERRORS: StreamDeclaration = {
  name: 'errors',
  semantics: 'append_only',
  primaryKey: 'id',
  timeField: 'at',
  fields: {
    id: TEXT,
    at: TIME,
    agent: NAME,
    session_id: NAME,
    /** `tool`, `api` or `session`. */
    kind: NAME,
    tool: NAMED_WORDS,
    tool_call_id: TEXT,
    message: WORDS,
  },
  relations: [
    TO_SESSION,
    {
      name: 'tool_call',
      stream: 'tool_calls',
      cardinality: 'has_one',
      foreignKey: 'tool_call_id',
      defaultLimit: 1,
      maxLimit: 1,
    },
  ],
};

export const AGENT_STREAMS: readonly StreamDeclaration[] = [SESSIONS, TURNS, TOOL_CALLS, ERRORS];
