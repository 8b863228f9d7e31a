import type { LimitsReport } from '../../src/control/activityContract.ts';
import type { GatewaySnapshot, ServerStatus } from '../../src/control/contract.ts';
import type { DashboardState } from '../../src/control/dashboardMessages.ts';
import type { TelemetryReport, TelemetryRow } from '../../src/control/healthContract.ts';
import { type DashboardSources, dashboardState } from '../../src/extension/dashboard/dashboardModel.ts';
import { HealthRecord } from '../../src/supervision/health.ts';

/** Noon here, whatever the time zone of the machine. */
export const NOW = new Date(2026, 7, 31, 12, 0, 0).getTime();
const seconds = (amount: number): number => NOW - amount * 1_000;
const CONFIGURATION = '/home/ada/project/.vscode/waygate.json';
const NEVER = new HealthRecord(() => 0).snapshot();

/** Busy gateway with one example of everything that the page can show. */
export const BUSY: GatewaySnapshot = {
  workspace: '/home/ada/project',
  health: 'degraded',
  worker: { pid: 4711, version: '0.1.0', build: '0.1.0+20260831', startedAt: seconds(11_520), uptimeMs: 11_520_000 },
  configuration: {
    file: CONFIGURATION,
    exists: true,
    problems: [
      {
        severity: 'warning',
        code: 'wrong_value',
        message: 'The server "memory" sets "cwd" to a folder that does not exist.',
        location: { file: CONFIGURATION, line: 14, column: 14 },
      },
    ],
  },
  servers: [
    {
      name: 'filesystem',
      namespace: 'filesystem',
      state: 'ready',
      since: seconds(11_400),
      pid: 4802,
      toolCount: 14,
      definitionTokens: 2_140,
      calls: 212,
      errors: 3,
      p95Ms: 18.2,
      lastUsedAt: seconds(3),
      supervised: { ...NEVER, state: 'ready', restart_count: 1 },
      location: { file: CONFIGURATION, line: 3, column: 5 },
    },
    {
      name: 'everything',
      namespace: 'everything',
      state: 'ready',
      since: seconds(3_700),
      pid: 4810,
      oddities: [
        { kind: 'garbage_line', count: 12, words: 'lines on stdout that are not messages' },
        { kind: 'late_response', count: 1, words: 'answers to requests that were given up' },
      ],
      toolCount: 13,
      definitionTokens: 1_730,
      calls: 40,
      errors: 0,
      p95Ms: 1_240,
      lastUsedAt: seconds(725),
      supervised: { ...NEVER, state: 'ready' },
      location: { file: CONFIGURATION, line: 7, column: 5 },
    },
    { name: 'memory', namespace: 'memory', state: 'starting', since: seconds(4), pid: 5120, toolCount: 0 },
    {
      name: 'tickets',
      namespace: 'tickets',
      state: 'failed',
      since: seconds(95),
      toolCount: 0,
      reason: 'The command "tickets-mcp" was not found; install it or correct "command".',
      location: { file: CONFIGURATION, line: 21, column: 5 },
      stderr: ['spawn tickets-mcp ENOENT'],
      remedy: { kind: 'restart' },
      nextTryAt: NOW + 24_000,
      calls: 9,
      errors: 9,
      supervised: {
        ...NEVER,
        state: 'recovering',
        supervision: 'backing_off',
        restart_count: 22,
        consecutive_failures: 4,
        last_fault: {
          generation: 22,
          class: 'process',
          code: 'exited',
          directive: 'restart_and_replay',
          recovery_hint: 'replace_worker',
          detail: 'exit code 127',
        },
      },
    },
    {
      name: 'calendar',
      namespace: 'calendar',
      state: 'needs_sign_in',
      since: seconds(40),
      toolCount: 0,
      kind: 'http',
      remedy: { kind: 'sign_in' },
      signedIn: false,
      supervised: NEVER,
    },
    {
      name: 'archive',
      namespace: 'archive',
      state: 'disabled',
      since: seconds(11_400),
      toolCount: 0,
      location: { file: CONFIGURATION, line: 30, column: 5 },
    },
    {
      name: 'notes',
      namespace: 'notes',
      state: 'ready',
      since: seconds(60),
      toolCount: 0,
      pid: 5011,
      remedy: { kind: 'review' },
      supervised: { ...NEVER, state: 'ready' },
      held: [{ toolId: '', part: 'tools', name: 'send', why: 'quarantined' }],
    },
  ],
  sessions: [
    {
      id: 's1',
      client: 'Visual Studio Code',
      clientVersion: '1.139.1',
      protocolVersion: '2025-11-25',
      mode: 'gateway',
      since: seconds(7_300),
    },
  ],
  catalog: {
    revision: 7,
    toolCount: 27,
    namespaceCount: 2,
    skipped: [{ server: 'everything', tool: 'odd tool!', reason: 'Its input schema is not an object.' }],
  },
  recentCalls: [
    {
      id: 4,
      at: seconds(8),
      session: 's1',
      phase: 'waiting',
      attempts: 0,
      effect: 'none',
      handles: [],
      client: 'Visual Studio Code',
      metaTool: 'tool_execute',
      subject: 'filesystem:delete_file#0a1b2c3d',
      toolId: 'filesystem:delete_file#0a1b2c3d',
      server: 'filesystem',
      durationMs: 0,
    },
    {
      id: 3,
      at: seconds(3),
      session: 's1',
      phase: 'done',
      attempts: 1,
      effect: 'done',
      handles: [],
      client: 'Visual Studio Code',
      metaTool: 'tool_execute',
      subject: 'filesystem:read_text_file#1f0c9a2b',
      durationMs: 12.4,
      outcome: 'ok',
    },
    {
      id: 2,
      at: seconds(25),
      session: 's1',
      phase: 'done',
      attempts: 1,
      effect: 'done',
      handles: [],
      client: 'Visual Studio Code',
      metaTool: 'tool_browse',
      subject: 'read a file from the project',
      durationMs: 1.8,
      outcome: 'ok',
    },
    {
      id: 1,
      at: seconds(600),
      session: 's2',
      phase: 'done',
      attempts: 1,
      effect: 'unknown',
      handles: [],
      client: 'claude-code',
      metaTool: 'tool_execute',
      subject: 'tickets:create_issue#77aa0b31',
      durationMs: 2_310,
      outcome: 'error',
      errorCode: 'UPSTREAM_UNAVAILABLE',
    },
  ],
};

const MINUTES = [4, 0, 0, 7, 12, 9, 22, 18, 31, 26, 0, 3, 14, 40, 28];

function row(over: Partial<TelemetryRow>): TelemetryRow {
  return {
    request_count: 0,
    success_count: 0,
    error_count: 0,
    response_error_count: 0,
    recovery_error_count: 0,
    recovery_fault_count: 0,
    transport_fault_count: 0,
    retry_count: 0,
    avg_latency_ms: 0,
    max_latency_ms: 0,
    p50_latency_ms: 0,
    p95_latency_ms: 0,
    p99_latency_ms: 0,
    ...over,
  };
}

/** Counts of `tools` tools, the most used first. */
export function telemetry(tools = 3): TelemetryReport {
  const names = ['filesystem:read_text_file', 'everything:get_sum', 'tickets:create_issue'];
  const all = row({
    request_count: 1_312,
    error_count: 14,
    recovery_error_count: 1,
    retry_count: 2,
    p50_latency_ms: 12.4,
    p95_latency_ms: 340,
  });
  return {
    workspace: '/home/ada/project',
    state: 'ready',
    generation: 1,
    consecutive_failures: 0,
    restart_count: 0,
    since_unix_ms: seconds(11_520),
    uptime_ms: 11_520_000,
    totals: all,
    calls: {
      ...all,
      per_minute: MINUTES.map((calls, index) => ({ calls, errors: index % 6 === 4 ? Math.ceil(calls / 6) : 0 })),
    },
    methods: [],
    tools: Array.from({ length: tools }, (_, index) => ({
      ...row({
        request_count: 400 - index * 3,
        error_count: index === 2 ? 9 : 0,
        p95_latency_ms: 18.2 + index * 151,
        result_tokens_saved: 1_820 * (index + 1),
      }),
      tool_id: `${names[index] ?? `filesystem:tool_${index}`}#${String(index).padStart(8, '0')}`,
    })),
    tokens: {
      definition_tokens_full: 68_380,
      definition_tokens_exposed: 1_220,
      definition_tokens_avoided: 67_160,
      result_tokens_raw: 434_210,
      result_tokens_shown: 12_040,
      result_tokens_saved: 422_170,
    },
    oddities: [],
  };
}

export const LIMITS: LimitsReport = {
  windows: [
    { scope: 'tool_execute/minute', limit: 40, left: 33, freesInMs: 12_000 },
    { session: 's1', client: 'Visual Studio Code', scope: 'tool_execute/session', limit: 1_200, left: 1_100 },
    { scope: 'tool:tickets:create_issue#00000002/minute', limit: 5, left: 5 },
  ],
};

const QUARANTINED = {
  server: 'notes',
  reason: 'tools /description: keeps something from the user ("do not mention it")',
  findings: [{ about: 'tool send: keeps something from the user (hard) at /description', quote: 'do not mention it' }],
  more: 2,
};

export function sources(over: Partial<DashboardSources> = {}): DashboardSources {
  return {
    now: NOW,
    view: { link: { kind: 'attached', attachment: 1, snapshot: over.snapshot ?? BUSY }, policy: undefined },
    snapshot: BUSY,
    telemetry: telemetry(),
    limits: { report: LIMITS, age: 0 },
    quarantined: [QUARANTINED],
    ...over,
  };
}

const isWell = ({ state, held }: ServerStatus): boolean => state === 'ready' && held === undefined;
const READY: GatewaySnapshot = {
  ...BUSY,
  health: 'ready',
  configuration: { ...BUSY.configuration, problems: [] },
  servers: BUSY.servers.filter(isWell),
  recentCalls: [],
};
const EMPTY: GatewaySnapshot = {
  ...READY,
  servers: [],
  sessions: [],
  catalog: { revision: 1, toolCount: 0, namespaceCount: 0, skipped: [] },
};
const NO_CALLS = { ...telemetry(0), calls: undefined } as unknown as TelemetryReport;
const MET: LimitsReport = {
  windows: [
    ...LIMITS.windows,
    { scope: 'tool_browse/minute', limit: 20, left: 0, freesInMs: 31_000 },
    { session: 's2', client: 'claude-code', scope: 'tool_view/session', limit: 100, left: 0 },
  ],
};

/** Page of each kind of state. */
export const PAGES = {
  degraded: dashboardState(sources()),
  ready: dashboardState(sources({ snapshot: READY })),
  lost: dashboardState(
    sources({
      view: {
        link: { kind: 'waiting', attempt: 3, reason: 'The gateway exited while it was starting', delayMs: 5_000 },
        policy: undefined,
      },
    }),
  ),
  limitMet: dashboardState(sources({ snapshot: READY, limits: { report: MET, age: 0 } })),
  empty: dashboardState(sources({ snapshot: EMPTY, telemetry: NO_CALLS, limits: { report: { windows: [] }, age: 0 } })),
  off: dashboardState({
    ...sources({ view: { link: { kind: 'off', reason: 'untrusted' }, policy: undefined } }),
    snapshot: undefined,
  }),
} as const satisfies Record<string, DashboardState>;
