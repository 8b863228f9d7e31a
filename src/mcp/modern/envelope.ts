import { INVALID_PARAMS } from '../../errors/rpcCodes.ts';
import { isRecord } from '../../lib/isRecord.ts';
import type { JsonRpcMessage } from '../../link/frames.ts';
import {
  CLIENT_CAPABILITIES_META,
  CLIENT_INFO_META,
  LOG_LEVEL_META,
  MODERN_VERSION,
  MODERN_VERSIONS,
  metaOf,
  UNSUPPORTED_VERSION,
  VERSION_META,
} from './wire.ts';

/** Error of JSON-RPC before it has an id. */
export interface Problem {
  code: number;
  message: string;
  data?: object;
}

/** Facts that each request states about its client. */
export interface Envelope {
  client: Readonly<Record<string, unknown>> & { name: string; version: string };
  capabilities: Readonly<Record<string, unknown>>;
  logLevel: LogLevel | undefined;
  progressToken: string | number | undefined;
  /** Members of `_meta` that the revision does not reserve. */
  rest: Readonly<Record<string, unknown>>;
}

/** Log levels of MCP, the most verbose first. */
export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const UNKNOWN_CLIENT = { name: 'unknown client', version: '' };

/** Reads what a request states about its client, or returns the one thing that is wrong with it. */
export function readEnvelope(message: JsonRpcMessage): Envelope | Problem {
  const meta = metaOf(message);
  const version = meta?.[VERSION_META];
  if (!meta || version === undefined) {
    return wrong(VERSION_META, `is missing; a request of ${MODERN_VERSION} names its revision there`);
  }
  if (typeof version !== 'string') return wrong(VERSION_META, 'must be a string');
  const {
    [VERSION_META]: _,
    [CLIENT_INFO_META]: client = UNKNOWN_CLIENT,
    [CLIENT_CAPABILITIES_META]: capabilities,
    [LOG_LEVEL_META]: logLevel,
    progressToken,
    ...rest
  } = meta;
  if (!isRecord(capabilities)) return wrong(CLIENT_CAPABILITIES_META, 'must be an object, {} without capabilities');
  if (!isClient(client)) return wrong(CLIENT_INFO_META, 'must be an object with the strings name and version');
  if (logLevel !== undefined && !isLevel(logLevel)) {
    return wrong(LOG_LEVEL_META, `must be one of ${LOG_LEVELS.join(', ')}`);
  }
  if (progressToken !== undefined && typeof progressToken !== 'string' && !Number.isSafeInteger(progressToken)) {
    return wrong('progressToken', 'must be a string or a whole number');
  }
  if (!MODERN_VERSIONS.includes(version)) {
    const data = { supported: MODERN_VERSIONS, requested: version };
    return { code: UNSUPPORTED_VERSION, message: `Unsupported protocol version; use ${MODERN_VERSION}.`, data };
  }
  return { client, capabilities, logLevel, progressToken: progressToken as Envelope['progressToken'], rest };
}

export function isProblem(value: object): value is Problem {
  return 'code' in value && 'message' in value;
}

function wrong(key: string, what: string): Problem {
  return { code: INVALID_PARAMS, message: `Invalid params: _meta["${key}"] ${what}.` };
}

function isClient(value: unknown): value is Envelope['client'] {
  return isRecord(value) && typeof value.name === 'string' && typeof value.version === 'string';
}

function isLevel(value: unknown): value is LogLevel {
  return LOG_LEVELS.some((level) => level === value);
}
