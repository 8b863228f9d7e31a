import { isRecord } from '../lib/isRecord.ts';
import type { AuthEntry, CommonKeys, ToolFilterEntry } from './serverEntry.ts';

type Raw = Readonly<Record<string, unknown>>;

/** Parts of a client's entry beyond its start that `waygate.json` has too. */
export interface CarriedOver {
  common: CommonKeys;
  auth: AuthEntry | undefined;
  /** Time limit of its calls. */
  callSeconds: number | undefined;
  /** Keys that were read. */
  used: ReadonlySet<string>;
  /** Restrictions that cannot be expressed. */
  lost: readonly string[];
}

/** Keys that list the only tools, and keys that list tools to leave out, in all clients. */
const INCLUDE = ['tools', 'enabled_tools', 'enabledTools', 'includeTools', 'allowedTools'];
const EXCLUDE = ['disabled_tools', 'disabledTools', 'excludeTools'];
/** Keys that allow more than without them; losing one only adds questions. */
const PERMISSIVE = /^(auto_?approve|always_?allow|trust)/i;
const RESTRICTIVE = /tool|allow|den(y|ied)|exclude|include|block|permission|approv|read_?only/i;

/** Reads tool filters, OAuth settings and time limits. `unit` is that of the client's `timeout`. */
export function carryOver(raw: Raw, unit: 'ms' | 's' | undefined): CarriedOver {
  const used = new Set<string>();
  const take = (key: string): unknown => {
    if (raw[key] !== undefined) used.add(key);
    return raw[key];
  };
  const lost: string[] = [];
  const tools = filterOf(raw, used, lost);
  const startSeconds = seconds(take('startup_timeout_sec')) ?? seconds(take('startup_timeout_ms'), 'ms');
  const startTimeoutSeconds = seconds(take('startTimeoutSeconds')) ?? startSeconds;
  const callSeconds = seconds(take('tool_timeout_sec')) ?? (unit && seconds(take('timeout'), unit));
  const auth = authOf(take);
  for (const [key, value] of Object.entries(raw)) {
    if (used.has(key) || !RESTRICTIVE.test(key) || PERMISSIVE.test(key) || isEmpty(value)) continue;
    lost.push(key);
  }
  return {
    common: { ...(tools && { tools }), ...(startTimeoutSeconds !== undefined && { startTimeoutSeconds }) },
    auth,
    callSeconds,
    used,
    lost,
  };
}

function filterOf(raw: Raw, used: Set<string>, lost: string[]): ToolFilterEntry | undefined {
  const names = (source: Raw, keys: readonly string[]): string[] | undefined => {
    const given = keys.filter((key) => Array.isArray(source[key]) || typeof source[key] === 'string');
    for (const key of given) used.add(key);
    const items: unknown[] = given.flatMap((key) => [source[key]].flat());
    const texts = items.filter((item) => typeof item === 'string');
    if (texts.length < items.length) lost.push(...given);
    // Gemini allows a list of arguments behind the name.
    return given.length === 0 ? undefined : texts.map((item) => item.replace(/\(.*$/, ''));
  };
  // `waygate.json` has one object.
  const own = isRecord(raw.tools) && ('include' in raw.tools || 'exclude' in raw.tools) ? raw.tools : {};
  if (own === raw.tools) used.add('tools');
  const include =
    names(raw, INCLUDE) ?? (Array.isArray(own.include) && own.include.length > 0 ? names(own, ['include']) : undefined);
  const exclude = [...(names(raw, EXCLUDE) ?? []), ...(names(own, ['exclude']) ?? [])];
  // An empty list of the only tools admits none, which `include` cannot say.
  if (include?.length === 0) return { exclude: ['*'] };
  const only = include?.includes('*') ? undefined : include;
  if (!only && exclude.length === 0) return undefined;
  return { ...(only && { include: only }), ...(exclude.length > 0 && { exclude }) };
}

function authOf(take: (key: string) => unknown): AuthEntry | undefined {
  const nested = ['oauth', 'auth'].map(take).filter(isRecord);
  const find = (...keys: string[]): unknown => {
    const outer = keys.flatMap((key) => [key, `oauth_${key}`, `oauth${key[0]?.toUpperCase()}${key.slice(1)}`]);
    return (
      nested.flatMap((one) => keys.map((key) => one[key])).find((value) => value !== undefined) ??
      outer.map(take).find((value) => value !== undefined)
    );
  };
  const clientId = find('clientId', 'client_id', 'CLIENT_ID');
  const clientSecret = find('clientSecret', 'client_secret', 'CLIENT_SECRET');
  const asked = find('scopes', 'scope');
  const issuer = find('issuer');
  const list: unknown[] = Array.isArray(asked) ? asked : typeof asked === 'string' ? asked.split(/[\s,]+/) : [];
  const scopes = list.filter(isText);
  const auth: AuthEntry = {
    ...(isText(clientId) && { clientId }),
    ...(isText(clientSecret) && { clientSecret }),
    ...(scopes.length > 0 && { scopes }),
    ...(isText(issuer) && { issuer }),
  };
  return Object.keys(auth).length === 0 ? undefined : auth;
}

/** Bounds of time limits in `waygate.json`. */
const MAX_SECONDS = 3_600;

function seconds(value: unknown, unit: 'ms' | 's' = 's'): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !(number > 0)) return undefined;
  return Math.min(MAX_SECONDS, unit === 'ms' ? number / 1_000 : number);
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return (
    value === undefined || value === null || value === false || (isRecord(value) && Object.keys(value).length === 0)
  );
}
