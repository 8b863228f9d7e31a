import type { StreamDeclaration } from '../../store/declaration.ts';

const TEXT = { type: 'string' } as const;
const NAME = { type: 'string', groupBy: true, distinct: true } as const;
const WORDS = { type: 'string', lexical: true } as const;
const NAMED_WORDS = { ...NAME, lexical: true } as const;
const TIME = { type: 'date-time' } as const;
const COUNT = { type: 'integer' } as const;
const LIST = { type: 'array' } as const;

export const CALLS: StreamDeclaration = {
  name: 'calls',
  semantics: 'append_only',
  primaryKey: 'id',
  timeField: 'at',
  fields: {
    id: TEXT,
    at: TIME,
    /** `execute`, `hydrate`, `view`, `read`, or `call` for an unknown tool. */
    kind: NAME,
    server: NAMED_WORDS,
    tool: NAMED_WORDS,
    tool_id: TEXT,
    session_id: NAME,
    client: NAME,
    /** `ok` or `error`. */
    outcome: NAME,
    error_code: NAMED_WORDS,
    fault: NAMED_WORDS,
    duration_ms: { type: 'number' },
    tokens_in: COUNT,
    tokens_out: COUNT,
    tokens_saved: COUNT,
    attempts: COUNT,
    cache_hit: { type: 'boolean', groupBy: true },
    argument_names: LIST,
    results: LIST,
  },
};

export const FAULTS: StreamDeclaration = {
  name: 'faults',
  semantics: 'append_only',
  primaryKey: 'id',
  timeField: 'at',
  fields: {
    id: TEXT,
    at: TIME,
    /** `crashed`, `failed`, `restarting`, `waiting`, `worker_lost`, `call` or `log_dropped`. */
    kind: NAME,
    server: NAMED_WORDS,
    fault: NAMED_WORDS,
    reason: WORDS,
    error_code: NAMED_WORDS,
    tool: NAMED_WORDS,
    session_id: NAME,
    call_id: TEXT,
    generation: COUNT,
    consecutive_failures: COUNT,
    restart_count: COUNT,
  },
  relations: [
    { name: 'call', stream: 'calls', cardinality: 'has_one', foreignKey: 'call_id', defaultLimit: 1, maxLimit: 1 },
  ],
};

export const BROWSES: StreamDeclaration = {
  name: 'browses',
  semantics: 'append_only',
  primaryKey: 'id',
  timeField: 'at',
  fields: {
    id: TEXT,
    at: TIME,
    session_id: NAME,
    client: NAME,
    outcome: NAME,
    error_code: NAMED_WORDS,
    duration_ms: { type: 'number' },
    query_chars: COUNT,
    path_depth: COUNT,
    card_count: COUNT,
    card_tokens: COUNT,
    tool_ids: LIST,
  },
};

export const RESULTS: StreamDeclaration = {
  name: 'results',
  semantics: 'mutable_state',
  primaryKey: 'handle',
  timeField: 'at',
  fields: {
    handle: TEXT,
    at: TIME,
    label: WORDS,
    media_type: NAME,
    server: NAMED_WORDS,
    tool: NAMED_WORDS,
    tool_id: TEXT,
    size_bytes: COUNT,
    lines: COUNT,
    text: WORDS,
  },
};

const DECISION: StreamDeclaration['fields'] = {
  id: TEXT,
  at: TIME,
  /** `person-cli`, `person-editor`, `person-question` or `baseline`. */
  actor: NAME,
  what: NAME,
  action: NAME,
  subject: WORDS,
  pin: TEXT,
};

/** Answers of the person: launches, questions of calls, secrets, and tools that are always allowed. */
export const APPROVALS: StreamDeclaration = {
  name: 'approvals',
  semantics: 'mutable_state',
  primaryKey: 'id',
  timeField: 'at',
  fields: DECISION,
};

/** Decisions about pins of servers and tools, and baselines. */
export const TRUST: StreamDeclaration = { ...APPROVALS, name: 'trust', semantics: 'append_only' };

export const HISTORY_STREAMS: readonly StreamDeclaration[] = [CALLS, FAULTS, RESULTS, BROWSES, APPROVALS, TRUST];
