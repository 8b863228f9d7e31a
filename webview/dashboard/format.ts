const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats a duration with at most two units. */
export function duration(ms: number): string {
  if (!(ms >= 0)) return '0 s';
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  if (ms < 10 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return two(ms, MINUTE, 'min', SECOND, 's');
  if (ms < DAY) return two(ms, HOUR, 'h', MINUTE, 'min');
  return two(ms, DAY, 'd', HOUR, 'h');
}

/** Formats an age, as coarse as the page's refresh interval. */
export function age(ms: number): string {
  if (ms < 10 * SECOND) return 'just now';
  if (ms < MINUTE) return `${Math.floor(ms / (10 * SECOND)) * 10} s ago`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ago`;
  return `${Math.floor(ms / DAY)} d ago`;
}

/** Formats a time for machines. An invalid number must not break the page. */
export function timestamp(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}

function two(ms: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeName}${rest > 0 ? ` ${rest} ${smallName}` : ''}`;
}
