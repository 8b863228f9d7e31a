import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PseudoRandom } from './pseudoRandom.ts';

/** Call as the generator made it, for answers that are computed without the code under test. */
export interface MadeCall {
  at: number;
  server: string;
  tool: string;
  session: string;
  client: string;
  ok: boolean;
  errorCode?: string;
  fault?: string;
  durationMs: number;
  tokensIn: number;
  tokensOut: number;
  results: string[];
}

export interface MadeToolCall {
  at: number;
  agent: string;
  session: string;
  id: string;
  server: string | undefined;
  tool: string;
  file: string | undefined;
  text: string;
  ok: boolean;
  result: string;
}

export interface MadeSession {
  agent: string;
  id: string;
  folder: string;
  model: string;
  startedAt: number;
  endedAt: number;
  title: string;
  turns: { at: number; role: string; text: string }[];
  toolCalls: MadeToolCall[];
  tokensIn: number;
  tokensOut: number;
}

export interface MadeHistory {
  calls: MadeCall[];
  crashes: { at: number; server: string }[];
  browses: { at: number; session: string; cards: number }[];
  sessions: MadeSession[];
}

const TOOLS: Readonly<Record<string, readonly string[]>> = {
  files: ['read_file', 'write_file', 'search_files'],
  github: ['list_issues', 'get_issue', 'create_pull_request'],
  postgres: ['query', 'explain'],
  browser: ['navigate', 'screenshot'],
  payments: ['refund_order', 'list_charges'],
};
const SERVERS = Object.keys(TOOLS);
const CLIENTS = ['vscode', 'copilot-cli', 'claude-code'];
const FAILURES = [
  { errorCode: 'UPSTREAM_TIMEOUT', fault: 'timeout/request_timeout' },
  { errorCode: 'UPSTREAM_UNAVAILABLE', fault: 'process/exited' },
  { errorCode: 'ARGS_INVALID' },
  { errorCode: 'RATE_LIMITED' },
];
const TOPICS = ['checkout total', 'login form', 'search index', 'invoice export', 'dark theme', 'cache headers'];
const FILES = ['src/total.ts', 'src/login.ts', 'src/index.ts', 'docs/readme.md', 'test/total.test.ts'];
const ERRORS = ['ENOENT: no such file', 'Permission denied', 'Connection refused by host', 'Syntax error near line 7'];
const MODELS: Readonly<Record<string, string>> = { 'claude-code': 'opus', codex: 'gpt-codex', 'copilot-cli': 'gpt' };

const DAY_MS = 86_400_000;
const DAYS = 80;
const SESSIONS_PER_AGENT = 14;

const iso = (at: number): string => new Date(at).toISOString();
const idOf = (random: PseudoRandom): string => {
  const hex = (length: number): string => Array.from({ length }, () => random.below(16).toString(16)).join('');
  return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
};

/** Makes the same history at every run, ending at `now`: calls of the gateway, and sessions of three agents. */
export function makeHistory(now: number, calls = 10_000, seed = 30): MadeHistory {
  const random = new PseudoRandom(seed);
  const begin = now - DAYS * DAY_MS;
  const made: MadeHistory = { calls: [], crashes: [], browses: [], sessions: [] };
  for (let n = 0; n < calls; n += 1) {
    const server = random.pick(SERVERS);
    const failure = random.below(20) === 0 ? random.pick(FAILURES) : undefined;
    const at = begin + Math.floor((n / calls) * (DAYS * DAY_MS - 3_600_000)) + random.below(1_000);
    made.calls.push({
      at,
      server,
      tool: random.pick(TOOLS[server] as readonly string[]),
      session: `s${Math.floor(n / 250)}`,
      client: random.pick(CLIENTS),
      ok: failure === undefined,
      ...failure,
      durationMs: 1 + random.below(900_000) / 1_000,
      tokensIn: failure ? 0 : 20 + random.below(4_000),
      tokensOut: failure ? 0 : 10 + random.below(300),
      results: random.below(50) === 0 && !failure ? [`text:${server}:${random.below(1e9).toString(16)}`] : [],
    });
    if (n % 997 === 0) made.crashes.push({ at: at + 1, server });
    if (n % 10 === 0) made.browses.push({ at: at - 1, session: `s${Math.floor(n / 250)}`, cards: random.below(12) });
  }
  for (const agent of Object.keys(MODELS)) {
    for (let n = 0; n < SESSIONS_PER_AGENT; n += 1) {
      made.sessions.push(makeSession(random, agent, begin + (n + 1) * 5 * DAY_MS + random.below(DAY_MS)));
    }
  }
  return made;
}

function makeSession(random: PseudoRandom, agent: string, startedAt: number): MadeSession {
  const topic = random.pick(TOPICS);
  const session: MadeSession = {
    agent,
    id: idOf(random),
    folder: `/work/${random.pick(['shop', 'api', 'web'])}`,
    model: MODELS[agent] as string,
    startedAt,
    endedAt: startedAt,
    title: `Please fix the ${topic}`,
    turns: [{ at: startedAt, role: 'user', text: `Please fix the ${topic}` }],
    toolCalls: [],
    tokensIn: 0,
    tokensOut: 0,
  };
  let at = startedAt;
  for (let n = 0; n < 12; n += 1) {
    at += 1_000 + random.below(20_000);
    const ok = random.below(6) !== 0;
    const server = n % 3 === 0 ? random.pick(SERVERS) : undefined;
    const file = n % 2 === 0 ? random.pick(FILES) : undefined;
    const result = ok ? `done step ${n} of the ${topic}` : random.pick(ERRORS);
    const tool =
      server === undefined ? random.pick(['shell', 'edit', 'read']) : random.pick(TOOLS[server] as readonly string[]);
    const call = { at, agent, session: session.id, id: `call_${n}`, server, tool, file, ok, result };
    session.toolCalls.push({ ...call, text: JSON.stringify({ ...(file && { path: file }), step: n }) });
    at += 500 + random.below(3_000);
    session.endedAt = at;
    session.tokensIn += 100 + n;
    session.tokensOut += 10 + n;
  }
  at += 1_000;
  session.endedAt = at;
  session.turns.push({ at, role: 'assistant', text: `The ${topic} works again.` });
  return session;
}

/** Writes a history as the programs write it: an event log into the state folder, and logs below a home folder. */
export function writeHistory(made: MadeHistory, { stateFolder, home }: { stateFolder: string; home: string }): void {
  write(join(stateFolder, 'events.jsonl'), [
    ...made.calls.map(callEvent),
    ...made.crashes.map(({ at, server }) => ({
      ...event('upstream.crashed', at, false),
      namespace: server,
      attributes: { generation: 1, reason: 'It exited (process/exited).', consecutive_failures: 1 },
    })),
    ...made.browses.map(({ at, session, cards }) => ({
      ...event('browse.completed', at, true),
      session_id: session,
      attributes: { query_chars: 12, path_depth: 0, card_count: cards, client: 'vscode' },
    })),
  ]);
  for (const session of made.sessions) {
    const { agent, id } = session;
    if (agent === 'claude-code') write(join(home, '.claude/projects/p', `${id}.jsonl`), claudeLog(session));
    else if (agent === 'codex')
      write(join(home, '.codex/sessions/2026/10/01', `rollout-2026-10-01T00-00-00-${id}.jsonl`), codexLog(session));
    else write(join(home, '.copilot/session-state', id, 'events.jsonl'), copilotLog(session));
  }
}

function write(file: string, lines: readonly object[]): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: 0o600 });
}

const event = (name: string, at: number, success: boolean): object => ({
  version: 1,
  event: name,
  timestamp: iso(at),
  success,
  duration_ms: null,
  session_id: null,
  tool_id: null,
  namespace: null,
});

function callEvent(call: MadeCall): object {
  const { at, server, tool, session, client, ok, errorCode, fault, durationMs, tokensIn, tokensOut, results } = call;
  const counts = {
    raw_tokens: tokensIn,
    compact_tokens: tokensOut,
    artifact_refs: results,
    attempts: 1,
    cache_hit: false,
  };
  return {
    ...event(ok ? 'execute.completed' : 'execute.failed', at, ok),
    duration_ms: durationMs,
    session_id: session,
    tool_id: `${server}:${tool}#0a1b2c3d`,
    namespace: server,
    attributes: { server, client, fault, ...(ok ? counts : { error_code: errorCode }) },
  };
}

const nameOf = ({ server, tool }: MadeToolCall): string => (server === undefined ? tool : `mcp__${server}__${tool}`);
const END_MS = 400;

function claudeLog({ id: sessionId, folder: cwd, model, turns, toolCalls }: MadeSession): object[] {
  const common = { sessionId, cwd, gitBranch: 'main' };
  const lines = [
    ...turns.map(({ at, role, text }, n) => ({
      ...common,
      type: role,
      uuid: `t${n}`,
      timestamp: iso(at),
      message: {
        role,
        content: role === 'user' ? text : [{ type: 'text', text }],
        ...(role === 'assistant' && { id: `m${n}`, model }),
      },
    })),
    ...toolCalls.flatMap((call, n) => [
      {
        ...common,
        type: 'assistant',
        uuid: `a${n}`,
        timestamp: iso(call.at),
        message: {
          id: `msg_${n}`,
          model,
          content: [{ type: 'tool_use', id: call.id, name: nameOf(call), input: JSON.parse(call.text) as object }],
          usage: { input_tokens: 100 + n, output_tokens: 10 + n },
        },
      },
      {
        ...common,
        type: 'user',
        uuid: `r${n}`,
        timestamp: iso(call.at + END_MS),
        message: { content: [{ type: 'tool_result', tool_use_id: call.id, is_error: !call.ok, content: call.result }] },
      },
    ]),
  ];
  return lines.sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
}

interface TimedLine {
  timestamp: string;
  [member: string]: unknown;
}

function codexLog({ id, folder: cwd, model, startedAt, turns, toolCalls }: MadeSession): object[] {
  const item = (at: number, payload: object): TimedLine => ({
    timestamp: iso(at),
    type: 'response_item',
    payload,
  });
  const lines = [
    ...turns.map(({ at, role, text }) =>
      item(at, { type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] }),
    ),
    ...toolCalls.flatMap((call, n) => [
      item(call.at, { type: 'function_call', name: nameOf(call), arguments: call.text, call_id: call.id }),
      item(call.at + END_MS, {
        type: 'function_call_output',
        call_id: call.id,
        output: JSON.stringify({ output: call.result, metadata: { exit_code: call.ok ? 0 : 1 } }),
      }),
      {
        timestamp: iso(call.at + END_MS),
        type: 'event_msg',
        payload: {
          type: 'token_count',
          info: { last_token_usage: { input_tokens: 100 + n, cached_input_tokens: 0, output_tokens: 10 + n } },
        },
      },
    ]),
  ].sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
  return [
    { timestamp: iso(startedAt), type: 'session_meta', payload: { id, cwd } },
    { timestamp: iso(startedAt), type: 'turn_context', payload: { cwd, model } },
    ...lines,
  ];
}

function copilotLog({ folder: cwd, model, startedAt, turns, toolCalls }: MadeSession): object[] {
  const lines = [
    ...turns.map(({ at, role, text }, n) => ({
      type: `${role}.message`,
      id: `u${n}`,
      timestamp: iso(at),
      data: { content: text, messageId: `m${n}` },
    })),
    ...toolCalls.flatMap((call, n) => [
      {
        type: 'tool.execution_start',
        id: `x${n}`,
        timestamp: iso(call.at),
        data: { toolCallId: call.id, toolName: nameOf(call), arguments: JSON.parse(call.text) as object },
      },
      {
        type: 'tool.execution_complete',
        id: `y${n}`,
        timestamp: iso(call.at + END_MS),
        data: {
          toolCallId: call.id,
          success: call.ok,
          ...(call.ok ? { result: { content: call.result } } : { error: { message: call.result } }),
        },
      },
      {
        type: 'assistant.usage',
        id: `z${n}`,
        timestamp: iso(call.at + END_MS),
        data: { inputTokens: 100 + n, outputTokens: 10 + n },
      },
    ]),
  ].sort((a, b) => (a.timestamp < b.timestamp ? -1 : 1));
  const data = { selectedModel: model, context: { cwd } };
  return [{ type: 'session.start', id: 's', timestamp: iso(startedAt), data }, ...lines];
}
