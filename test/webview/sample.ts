import type { GatewaySnapshot } from '../../src/control/contract.ts';
import type { DashboardState } from '../../src/control/dashboardMessages.ts';

export const NOW = Date.UTC(2026, 7, 31, 12, 0, 0);
const seconds = (amount: number): number => NOW - amount * 1_000;
const CONFIGURATION = '/home/ada/project/.vscode/waygate.json';

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
    },
    { name: 'calendar', namespace: 'calendar', state: 'needs_sign_in', since: seconds(40), toolCount: 0 },
    { name: 'archive', namespace: 'archive', state: 'disabled', since: seconds(11_400), toolCount: 0 },
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

export const BUSY_PAGE: DashboardState = {
  now: NOW,
  summary: {
    level: 'degraded',
    headline: '27 tools from 2 servers; 2 problems.',
    problems: [
      'tickets failed: The command "tickets-mcp" was not found; install it or correct "command".',
      'calendar needs sign-in.',
    ],
  },
  refreshing: false,
  live: true,
  quarantined: [
    {
      server: 'notes',
      reason: 'tools /description: keeps something from the user ("do not mention it")',
      findings: [
        { about: 'tool send: keeps something from the user (hard) at /description', quote: 'do not mention it' },
      ],
      more: 2,
    },
  ],
  snapshot: BUSY,
};
