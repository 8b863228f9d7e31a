import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCRequest } from '@modelcontextprotocol/sdk/types.js';
import { METHOD_NOT_FOUND } from '../../../errors/rpcCodes.ts';
import { isRecord } from '../../../lib/isRecord.ts';
import type { RequestId } from '../../../link/frames.ts';
import {
  CLIENT_CAPABILITIES_META,
  CLIENT_INFO_META,
  DISCOVER,
  HEADER_MISMATCH,
  MODERN_VERSION,
  UNSUPPORTED_VERSION,
  VERSION_META,
} from '../../modern/wire.ts';

/** `legacy`: revisions with `initialize`, up to 2025-11-25. `modern`: revision 2026-07-28. */
export type Era = 'legacy' | 'modern';

export type Params = Readonly<Record<string, unknown>>;

export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** Headers of a request of revision 2026-07-28, by its id. */
export type ModernHeaders = (id: RequestId) => Readonly<Record<string, string>> | undefined;

/** Transport over HTTP that can send requests of both eras. */
export interface EraTransport extends Transport {
  /** Sends requests with these headers from now on, and no notification; `undefined`: as in the older revisions. */
  speakModern(headers: ModernHeaders | undefined): void;
}

/** Returns the `_meta` that every request of revision 2026-07-28 must have, for a client that sent this `initialize`. */
export function modernMeta({ clientInfo, capabilities }: Params): Params {
  return {
    [VERSION_META]: MODERN_VERSION,
    [CLIENT_INFO_META]: clientInfo,
    [CLIENT_CAPABILITIES_META]: capabilities ?? {},
  };
}

export function discoverRequest(id: RequestId, initialize: Params): JSONRPCRequest {
  return { jsonrpc: '2.0', id, method: DISCOVER, params: { _meta: modernMeta(initialize) } };
}

/** Headers that every request of revision 2026-07-28 over HTTP must have. */
export function standardHeaders(method: string): Record<string, string> {
  return { 'mcp-protocol-version': MODERN_VERSION, 'mcp-method': method };
}

/** Returns whether a result of `server/discover` names the revision. Shims answer, and speak an older one only. */
export function offersModern(result: Params): boolean {
  const { supportedVersions } = result;
  return Array.isArray(supportedVersions) && supportedVersions.includes(MODERN_VERSION);
}

/** Returns whether a server that refuses `initialize` with this error may speak revision 2026-07-28. */
export function asksForModern({ code, message }: RpcError): boolean {
  // No server of an older revision is without `initialize`, or has these codes.
  if (code === UNSUPPORTED_VERSION || code === HEADER_MISMATCH || code === METHOD_NOT_FOUND) return true;
  return /\b_meta\b|io\.modelcontextprotocol\//.test(message);
}

/** Returns the versions that a server names in refusing another one. */
export function supportedIn({ code, data }: RpcError): string[] | undefined {
  const supported = code === UNSUPPORTED_VERSION && isRecord(data) ? data.supported : undefined;
  return Array.isArray(supported) ? supported.filter((one) => typeof one === 'string') : undefined;
}
