/**
 * Messages between the dashboard page and the extension. The page gets whole states only, so that it needs nothing else
 * after it was hidden. Each side validates the messages of the other.
 */
import type { SERVER_STATES } from './serverStates.ts';

/** `lost`: no worker runs, and the editor tries again. `off`: this window has nothing to run. */
export type HealthLevel = 'ready' | 'starting' | 'degraded' | 'stopping' | 'lost' | 'off';

export interface HealthSummary {
  level: HealthLevel;
  /** State of the gateway in one sentence. */
  headline: string;
  /** Problems, one sentence each. */
  problems: readonly string[];
}

/** Server of which no model sees anything, with what the scan found in its lists. */
export interface QuarantinedServer {
  server: string;
  reason: string;
  findings: readonly { about: string; quote: string }[];
  /** Number of findings that are left out. */
  more: number;
}

/** Actions of the page's buttons. The extension maps each to a command. */
export const DASHBOARD_ACTIONS = [
  'refresh',
  'reload',
  'restart',
  'showLog',
  'openConfiguration',
  'createConfiguration',
  'manageTrust',
  'addLimits',
  // `subject` is the number of a problem of the configuration.
  'openProblem',
  // `subject` is the name of a server.
  'openServer',
  'approve',
  'review',
  'setSecret',
  'signIn',
  'signOut',
  'startServer',
  'restartServer',
  'refreshServer',
  'serverLog',
  'switchOff',
  'switchOn',
  // `subject` is the id of a tool.
  'openTool',
  // `subject` is the number of a call that waits for an answer.
  'answerQuestion',
] as const;
export type DashboardAction = (typeof DASHBOARD_ACTIONS)[number];

export interface PageButton {
  action: DashboardAction;
  subject?: string;
  label: string;
  /** Name for a screen reader where the label does not name the subject. */
  name?: string;
}

type Glyph = (typeof SERVER_STATES)[keyof typeof SERVER_STATES]['glyph'] | 'question';

/** Something that needs the user: a server, a question, or the gateway itself. */
export interface NeedRow {
  id: string;
  glyph: Glyph;
  subject: string;
  words: string;
  /** Passages that a scan found, as quotes. */
  quotes: readonly { about: string; quote?: string }[];
  buttons: readonly PageButton[];
}

/** Number with its words. `method` says how it was counted. */
export interface Figure {
  id: string;
  term: string;
  value: string;
  notes: readonly string[];
  method?: string;
  plot?: CallsPlot;
}

/** Calls of the last minutes, the present minute last. */
export interface CallsPlot {
  title: string;
  minutes: readonly { calls: number; errors: number }[];
}

export interface NowPart {
  level: HealthLevel;
  /** State in one word or two. */
  words: string;
  headline: string;
  figures: readonly Figure[];
  /** Sessions, and the worker with the time since which it counts. */
  lines: readonly string[];
}

export interface LimitRow {
  id: string;
  name: string;
  of: string;
  limit: number;
  left: number;
  /** `33 of 40 left`. */
  words: string;
  /** `frees in 12 s`. */
  frees: string;
  isMet: boolean;
}

export interface LimitsPart {
  rows: readonly LimitRow[];
  /** Why there are no rows. */
  sentence?: string;
  buttons: readonly PageButton[];
}

export interface ServerRow {
  name: string;
  /** Opens its place in the configuration. */
  place?: PageButton;
  glyph: Glyph;
  state: string;
  tools: string;
  tokens: string;
  calls: string;
  p95: string;
  restarts: string;
  lastUsed: string;
  buttons: readonly PageButton[];
  details: readonly { term: string; text: string }[];
  stderr: readonly string[];
}

export interface ServersPart {
  /** `8 usable of 12`. */
  summary: string;
  rows: readonly ServerRow[];
}

/** Row of the tools with most calls. Numbers, because the page sorts them. */
export interface ToolRow {
  toolId: string;
  name: string;
  namespace: string;
  calls: number;
  errors: number;
  p95Ms: number;
  tokensSaved: number;
}

export interface DashboardState {
  workspace: string;
  /** Whether a refresh runs; the button shows it. */
  refreshing: boolean;
  /** A worker is attached; otherwise everything below *Now* is as it was last. */
  live: boolean;
  needs: readonly NeedRow[];
  now: NowPart;
  /** Absent while nothing is known of a worker. */
  limits?: LimitsPart;
  servers?: ServersPart;
  tools?: readonly ToolRow[];
}

export type ToDashboard = { type: 'state'; state: DashboardState };

export type FromDashboard =
  /** The page is ready for the state. */
  { type: 'ready' } | { type: 'action'; action: DashboardAction; subject?: string };

const MAX_SUBJECT = 4_000;

/** Returns a well-formed message, or undefined for anything else. A page is never trusted. */
export function parseFromDashboard(message: unknown): FromDashboard | undefined {
  if (!isRecord(message)) return undefined;
  if (message.type === 'ready') return { type: 'ready' };
  if (message.type !== 'action') return undefined;
  const { subject } = message;
  const action = DASHBOARD_ACTIONS.find((known) => known === message.action);
  if (action === undefined) return undefined;
  if (subject === undefined) return { type: 'action', action };
  return typeof subject === 'string' && subject.length <= MAX_SUBJECT ? { type: 'action', action, subject } : undefined;
}

/** Returns a well-formed message. Only the extension should send one, but other scripts can post to a window too. */
export function parseToDashboard(message: unknown): ToDashboard | undefined {
  if (!isRecord(message) || message.type !== 'state' || !isRecord(message.state)) return undefined;
  const { state } = message;
  const { needs, now, limits, servers, tools } = state;
  const isWhole =
    typeof state.live === 'boolean' &&
    Array.isArray(needs) &&
    isRecord(now) &&
    typeof now.headline === 'string' &&
    Array.isArray(now.figures) &&
    Array.isArray(now.lines) &&
    (limits === undefined || (isRecord(limits) && Array.isArray(limits.rows) && Array.isArray(limits.buttons))) &&
    (servers === undefined || (isRecord(servers) && Array.isArray(servers.rows))) &&
    (tools === undefined || Array.isArray(tools));
  return isWhole ? { type: 'state', state: state as unknown as DashboardState } : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
