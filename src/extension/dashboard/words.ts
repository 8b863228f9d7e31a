import { t } from '../l10n.ts';

/** Formats of the dashboard's numbers and times. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats an age, coarse enough that a row is not redrawn every second. */
export function age(ms: number): string {
  if (!(ms >= 10 * SECOND)) return t`just now`;
  if (ms < MINUTE) return t`${Math.floor(ms / (10 * SECOND)) * 10} s ago`;
  if (ms < HOUR) return t`${Math.floor(ms / MINUTE)} min ago`;
  if (ms < DAY) return t`${Math.floor(ms / HOUR)} h ago`;
  return t`${Math.floor(ms / DAY)} d ago`;
}

/** Formats the time until something happens in whole seconds or minutes, rounded up: nothing is early. */
export function until(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / SECOND));
  return seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`;
}

/** Formats a number of tokens: `950`, `1.2k`, `434k`, `3.4M`. */
export function compact(tokens: number): string {
  if (tokens < 1_000) return String(Math.round(tokens));
  if (tokens < 9_950) return `${(tokens / 1_000).toFixed(1)}k`;
  if (tokens < 999_500) return `${Math.round(tokens / 1_000)}k`;
  return `${(tokens / 1_000_000).toFixed(tokens < 9_950_000 ? 1 : 0)}M`;
}

/** Namespace and name of a tool in its id; the row of all other tools has no namespace. */
export function toolParts(toolId: string): { namespace: string; name: string } {
  const [, namespace = '', name = toolId] = /^([^:]+):(.+)#[0-9a-f]+$/.exec(toolId) ?? [];
  return { namespace, name };
}
