import type { IncomingHttpHeaders } from 'node:http';
import type { JsonRpcMessage } from '../../link/frames.ts';
import type { Problem } from './envelope.ts';
import { HEADER_MISMATCH, metaOf, NAME_PARAMS, VERSION_META } from './wire.ts';

/**
 * Compares the headers of a request with its body, which they repeat for proxies. The body decides, and a header that
 * says something else is an error (MCP 2026-07-28, Streamable HTTP, Server Validation).
 */
export function headerProblem(headers: IncomingHttpHeaders, message: JsonRpcMessage): Problem | undefined {
  const { method = '', params } = message;
  const version = metaOf(message)?.[VERSION_META];
  const param = NAME_PARAMS.get(method);
  const name = param && params?.[param];
  return (
    mismatch('MCP-Protocol-Version', headers['mcp-protocol-version'], version) ??
    mismatch('Mcp-Method', headers['mcp-method'], method) ??
    (param === undefined ? undefined : mismatch('Mcp-Name', decoded(headers['mcp-name']), name))
  );
}

function mismatch(name: string, header: string | string[] | undefined, body: unknown): Problem | undefined {
  // What the body lacks is an error of the body.
  if (typeof body !== 'string' || header === body) return undefined;
  const problem = header === undefined ? 'is missing' : 'does not match the body';
  return { code: HEADER_MISMATCH, message: `Header mismatch: the header ${name} ${problem}.` };
}

/** Returns the value of a header that a client may have encoded, or a value that matches nothing. */
function decoded(header: string | string[] | undefined): string | undefined {
  if (typeof header !== 'string') return undefined;
  const encoded = /^=\?base64\?([A-Za-z\d+/]*={0,2})\?=$/.exec(header)?.[1];
  return encoded === undefined ? header : Buffer.from(encoded, 'base64').toString('utf8');
}
