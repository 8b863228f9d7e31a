/**
 * Messages between the dashboard page and the extension. The page gets whole states only, so that it needs nothing else
 * after it was hidden. Each side validates the messages of the other.
 */
import type { GatewaySnapshot } from './contract.ts';

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

export interface DashboardState {
  /** Present time in milliseconds since the epoch, for ages and uptimes on the page. */
  now: number;
  summary: HealthSummary;
  /** Whether a refresh runs; the button shows it. */
  refreshing: boolean;
  /** A worker is attached; otherwise the snapshot is the last one known. */
  live: boolean;
  snapshot?: GatewaySnapshot;
  quarantined: readonly QuarantinedServer[];
}

export type ToDashboard = { type: 'state'; state: DashboardState };

/** Actions of the page's buttons. The extension maps each to a command of its own. */
export const DASHBOARD_ACTIONS = ['refresh', 'openConfiguration', 'showLog'] as const;
export type DashboardAction = (typeof DASHBOARD_ACTIONS)[number];

export type FromDashboard =
  /** The page is ready for the state. */
  | { type: 'ready' }
  | { type: 'action'; action: DashboardAction }
  /** Opens the place in the configuration that names the server or has the problem. */
  | { type: 'openServer'; server: string }
  | { type: 'openProblem'; index: number };

/** Returns a well-formed message, or undefined for anything else. A page is never trusted. */
export function parseFromDashboard(message: unknown): FromDashboard | undefined {
  if (!isRecord(message)) return undefined;
  switch (message.type) {
    case 'ready':
      return { type: 'ready' };
    case 'action': {
      const action = DASHBOARD_ACTIONS.find((known) => known === message.action);
      return action && { type: 'action', action };
    }
    case 'openServer': {
      const server = message.server;
      return typeof server === 'string' ? { type: 'openServer', server } : undefined;
    }
    case 'openProblem': {
      const index = message.index;
      return typeof index === 'number' && Number.isSafeInteger(index) ? { type: 'openProblem', index } : undefined;
    }
    default:
      return undefined;
  }
}

/** Returns a well-formed message. Only the extension should send one, but other scripts can post to a window too. */
export function parseToDashboard(message: unknown): ToDashboard | undefined {
  if (!isRecord(message) || message.type !== 'state' || !isRecord(message.state)) return undefined;
  const state = message.state;
  const summary = state.summary;
  const whole =
    Number.isFinite(state.now) &&
    typeof state.live === 'boolean' &&
    isRecord(summary) &&
    typeof summary.headline === 'string' &&
    Array.isArray(summary.problems) &&
    Array.isArray(state.quarantined) &&
    (state.snapshot === undefined || isRecord(state.snapshot));
  return whole ? { type: 'state', state: state as unknown as DashboardState } : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
