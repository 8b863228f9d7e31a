import { invalid } from './requestError.ts';

export const GRANULARITIES = ['minute', 'hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
export type Granularity = (typeof GRANULARITIES)[number];

const DAY_MS = 86_400_000;
/** Offsets of all zones are multiples of this time. */
const STEP_CHARS = '2026-04-10T00:1'.length;

/**
 * Returns a function from a time in UTC to the beginning of its group in a time zone: `2026-04-06` for a week, which
 * begins on Monday, `2026-04-01` for a month, `2026-04-10T08:00` for an hour.
 */
export function bucketIn(granularity: Granularity, timeZone: string): (at: string) => string {
  if (granularity === 'minute' || granularity === 'hour') {
    const local = localTime(timeZone);
    return (at) => (granularity === 'minute' ? local(at, 16) : `${local(at, 13)}:00`);
  }
  const local = localTime(timeZone);
  const known = new Map<string, string>();
  return (at) => {
    const day = local(at, 10);
    let bucket = known.get(day);
    if (bucket === undefined) {
      bucket = beginOf(granularity, day);
      known.set(day, bucket);
    }
    return bucket;
  };
}

/** Returns a function from a time in UTC to the first characters of the local time. */
function localTime(timeZone: string): (at: string, chars: number) => string {
  if (timeZone === 'UTC') return (at, chars) => at.slice(0, chars);
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    });
  } catch {
    throw invalid(`Unknown time zone '${timeZone}'`, 'time_zone');
  }
  const offsets = new Map<string, number>();
  return (at, chars) => {
    const step = at.slice(0, STEP_CHARS);
    let offset = offsets.get(step);
    const time = Date.parse(at);
    if (offset === undefined) {
      const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, value]));
      const local = Date.parse(`${parts.year}-${parts.month}-${parts.day}T${parts.hour}:${parts.minute}:00.000Z`);
      offset = local - Math.floor(time / 60_000) * 60_000;
      offsets.set(step, offset);
    }
    return new Date(time + offset).toISOString().slice(0, chars);
  };
}

const MINUTE_MS = 60_000;

/** Returns the time at which the group of a time ends: the first whole minute of another group. */
export function endOfBucket(at: string, bucket: (at: string) => string): string {
  const own = bucket(at);
  const isIn = (minute: number): boolean => bucket(new Date(minute * MINUTE_MS).toISOString()) === own;
  let inside = Math.floor(Date.parse(at) / MINUTE_MS);
  let step = 1;
  while (isIn(inside + step)) step *= 2;
  let outside = inside + step;
  while (outside - inside > 1) {
    const middle = Math.floor((inside + outside) / 2);
    if (isIn(middle)) inside = middle;
    else outside = middle;
  }
  return new Date(outside * MINUTE_MS).toISOString();
}

function beginOf(granularity: Granularity, day: string): string {
  const [year = '', month = ''] = day.split('-');
  switch (granularity) {
    case 'week': {
      const date = new Date(`${day}T00:00:00.000Z`);
      const sinceMonday = (date.getUTCDay() + 6) % 7;
      return new Date(date.getTime() - sinceMonday * DAY_MS).toISOString().slice(0, 10);
    }
    case 'month':
      return `${year}-${month}-01`;
    case 'quarter':
      return `${year}-${String(Math.floor((Number(month) - 1) / 3) * 3 + 1).padStart(2, '0')}-01`;
    case 'year':
      return `${year}-01-01`;
    default:
      return day;
  }
}
