import { isRecord } from '../../lib/isRecord.ts';
import type { JsonRpcMessage } from '../../link/frames.ts';

/**
 * Words of MCP revision 2026-07-28. A client of this revision has no session: each request names the revision, the
 * client and its capabilities in `_meta`. Revisions before it are the legacy era, which begins with `initialize`.
 */
export const MODERN_VERSION = '2026-07-28';
/** Revisions of the modern era that the gateway speaks to clients. */
export const MODERN_VERSIONS: readonly string[] = [MODERN_VERSION];

const RESERVED = 'io.modelcontextprotocol/';
/** Keys of `_meta` that the revision reserves. */
export const VERSION_META = `${RESERVED}protocolVersion`;
export const CLIENT_INFO_META = `${RESERVED}clientInfo`;
export const CLIENT_CAPABILITIES_META = `${RESERVED}clientCapabilities`;
export const LOG_LEVEL_META = `${RESERVED}logLevel`;
export const SERVER_INFO_META = `${RESERVED}serverInfo`;
export const SUBSCRIPTION_META = `${RESERVED}subscriptionId`;

/** Error codes of the revision. */
export const HEADER_MISMATCH = -32020;
export const MISSING_CLIENT_CAPABILITY = -32021;
export const UNSUPPORTED_VERSION = -32022;

export const DISCOVER = 'server/discover';
export const LISTEN = 'subscriptions/listen';
export const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

/** Requests that both eras have. */
export const SHARED_METHODS: ReadonlySet<string> = new Set([
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
]);

/** Requests whose result may ask the client for input. */
export const ASKING_METHODS: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** Requests whose complete result carries `ttlMs` and `cacheScope`. */
export const CACHEABLE_METHODS: ReadonlySet<string> = new Set([
  DISCOVER,
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

/** Parameter that the HTTP header `Mcp-Name` repeats, by method. */
export const NAME_PARAMS: ReadonlyMap<string, 'name' | 'uri'> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
]);

/**
 * Experimental capability with which a host opens a session for a modern client: a question ends the client's request,
 * and the client may never come with the answer. `revision`: that of the client; such a host takes `QUESTIONS_METHOD`.
 */
export const ROUNDS_CAPABILITY = 'waygate/rounds';
/** Member of `_meta` in which such a host repeats the capabilities that a request of its client declares. */
export const REQUEST_CAPABILITIES_META = 'waygate/capabilities';
/** Request of a worker to such a host: the questions of one round, under the keys of the server that asks them. */
export const QUESTIONS_METHOD = 'waygate/questions';

/** Result types of the revision. */
export const COMPLETE = 'complete';
export const INPUT_REQUIRED = 'input_required';

export const metaOf = ({ params }: Pick<JsonRpcMessage, 'params'>): Readonly<Record<string, unknown>> | undefined =>
  isRecord(params) && isRecord(params._meta) ? params._meta : undefined;

/** Returns whether a message claims to be of the modern era: `_meta` names a revision. */
export function claimsModern(message: Pick<JsonRpcMessage, 'params'>): boolean {
  const meta = metaOf(message);
  return meta !== undefined && VERSION_META in meta;
}

/** Returns whether a revision, as a header names it, belongs to the modern era. Revisions are dates. */
export function isModernVersion(version: string | undefined): boolean {
  return version !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= MODERN_VERSION;
}
