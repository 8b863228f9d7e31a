/**
 * What the dashboard page and the extension say to each other. The page gets whole states only: it needs nothing else
 * after it was hidden. Each side checks what the other sends where it enters.
 */
import type { GatewaySnapshot } from './contract.ts';

/** `lost`: no worker runs, and the editor tries again. `off`: nothing to run here. */
export type HealthLevel = 'ready' | 'starting' | 'degraded' | 'stopping' | 'lost' | 'off';

export interface HealthSummary {
  level: HealthLevel;
  /** One sentence. */
  headline: string;
  /** What is wrong, one sentence each. */
  problems: readonly string[];
}

export interface DashboardState {
  /** Milliseconds since the epoch: what ages and uptimes on the page are counted to. */
  now: number;
  summary: HealthSummary;
  /** The catalogs are being refreshed: the button says so. */
  refreshing: boolean;
  /** A worker is attached; otherwise the snapshot is the last one known. */
  live: boolean;
  snapshot?: GatewaySnapshot;
}

export type ToDashboard = { type: 'state'; state: DashboardState };

/** What the page's buttons may ask for; the extension maps each to a command of its own. */
export const DASHBOARD_ACTIONS = ['refresh', 'openConfiguration', 'showLog'] as const;
export type DashboardAction = (typeof DASHBOARD_ACTIONS)[number];

export type FromDashboard =
  /** The page listens now: send the state. */
  | { type: 'ready' }
  | { type: 'action'; action: DashboardAction }
  /** Open the place where the configuration names this server, or has this problem. */
  | { type: 'openServer'; server: string }
  | { type: 'openProblem'; index: number };

/** A page is never trusted: anything but a well-formed message is undefined. */
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

/** The extension is the page's only sender, but other scripts can post to a window too. */
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
    (state.snapshot === undefined || isRecord(state.snapshot));
  return whole ? { type: 'state', state: state as unknown as DashboardState } : undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
