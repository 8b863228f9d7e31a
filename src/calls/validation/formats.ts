import { isIPv4, isIPv6 } from 'node:net';

/**
 * Checks of formats. Each refuses only values that no reader of the format takes, because servers differ: some Python
 * servers take a date-time without a zone, TypeScript servers do not. A call that the server would accept must reach
 * it. All checks take linear time.
 */
export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  time: isTime,
  'date-time': isDateTime,
  duration: (text) => /^[+-]?P(?=.)(?:\d+(?:[.,]\d+)?[YMWD])*(?:T(?:\d+(?:[.,]\d+)?[HMS])+)?$/.test(text),
  email: (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  'idn-email': (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  hostname: (text) => text.length <= 254 && /^[^\s/:@?#]+$/.test(text) && !text.includes('..'),
  ipv4: isIPv4,
  ipv6: isIPv6,
  uri: (text) => /^[a-z][a-z0-9+.-]*:\S+$/i.test(text),
  uuid: (text) => /^(?:urn:uuid:)?\{?[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\}?$/i.test(text),
};

/** Example of a valid value per format. */
export const FORMAT_EXAMPLES: Readonly<Record<string, string>> = {
  date: '2026-03-01',
  time: '14:30:00Z',
  'date-time': '2026-03-01T14:30:00Z',
  duration: 'P1DT2H',
  email: 'name@example.com',
  'idn-email': 'name@example.com',
  hostname: 'www.example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/page',
  uuid: '123e4567-e89b-12d3-a456-426614174000',
};

const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function isDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  if (year === undefined) return false;
  const last = Number(month) === 2 && !isLeap(Number(year)) ? 28 : DAYS[Number(month) - 1];
  return last !== undefined && Number(day) >= 1 && Number(day) <= last;
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}

function isTime(text: string): boolean {
  const [, hour, minute, second = '0'] =
    /^(\d\d):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?(?:z|[+-]\d\d(?::?\d\d)?)?$/i.exec(text) ?? [];
  return hour !== undefined && Number(hour) <= 23 && Number(minute) <= 59 && Number(second) <= 60;
}

function isDateTime(text: string): boolean {
  return /^[t ]$/i.test(text.charAt(10)) && isDate(text.slice(0, 10)) && isTime(text.slice(11));
}
