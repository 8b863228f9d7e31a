import { INTERNAL_ERROR, INVALID_PARAMS, RESOURCE_NOT_FOUND } from '../../errors/rpcCodes.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { encodeMessage, encodeOrRefuse, type RequestId } from '../../link/frames.ts';
import { CACHEABLE_METHODS, COMPLETE, SERVER_INFO_META } from './wire.ts';

/** Terms under which an answer of a legacy session becomes a modern one. */
export interface Terms {
  /** Id of the client's request. */
  id: RequestId;
  method: string;
  /** URI of a read, for the error about a missing resource. */
  uri?: string | undefined;
  serverInfo: object;
  /** Time for which a client may keep a list. */
  ttlMs: number;
  /** The client repeats parameters in HTTP headers where a schema says so, and the gateway does not know the schemas. */
  hidesHeaders: boolean;
}

/** Head of an answer to a request with a number as its id. */
const HEAD = /^\{"jsonrpc":"2\.0","id":\d+,"(result|error)":/;
const HEAD_BYTES = 64;
/** Size up to which an answer is parsed. A larger one gets its new members as text, because parsing takes too long. */
const MAX_PARSED_BYTES = 256 * 1024;
/** Codes that only the revision itself may define. A server's own would be taken for the gateway's. */
const RESERVED_CODES = { from: -32099, to: -32020 };

/** Turns the answer of a legacy session into an answer of the revision. */
export function dressAnswer(frame: Buffer, terms: Terms): string | Buffer {
  const head = HEAD.exec(frame.toString('latin1', 0, HEAD_BYTES));
  const isLarge = frame.length > MAX_PARSED_BYTES && !terms.method.endsWith('/list');
  if (head?.[1] === 'result' && isLarge) return splice(frame, head[0].length, terms);
  const { result, error } = JSON.parse(frame.toString('utf8')) as { result?: unknown; error?: unknown };
  if (isRecord(error)) return encodeMessage({ id: terms.id, error: modernError(error, terms) });
  return completeResult(isRecord(result) ? result : {}, terms);
}

/** Makes the frame of a complete result. */
export function completeResult(result: Readonly<Record<string, unknown>>, terms: Terms): string {
  const { id, method, serverInfo } = terms;
  const meta = isRecord(result._meta) ? result._meta : {};
  const tools =
    method === 'tools/list' && Array.isArray(result.tools) ? { tools: modernTools(result.tools, terms) } : {};
  return encodeOrRefuse({
    id,
    result: {
      ...result,
      ...tools,
      resultType: COMPLETE,
      ...hints(terms),
      _meta: { ...meta, [SERVER_INFO_META]: serverInfo },
    },
  });
}

function hints({ method, ttlMs }: Terms): object {
  // A list or a resource may be for one user.
  return CACHEABLE_METHODS.has(method) ? { ttlMs, cacheScope: 'private' } : {};
}

/** Adds the required members to a large result. It goes without the optional ones, whose names it may have itself. */
function splice(frame: Buffer, at: number, terms: Terms): Buffer {
  const members = JSON.stringify({ resultType: COMPLETE, ...hints(terms) }).slice(0, -1);
  const id = JSON.stringify(terms.id);
  const head = `{"jsonrpc":"2.0","id":${id},"result":${members},`;
  return Buffer.concat([Buffer.from(head), frame.subarray(at + 1), NEWLINE]);
}

const NEWLINE = Buffer.from('\n');

function modernError(error: Readonly<Record<string, unknown>>, { uri }: Terms): object {
  const { code, data } = error;
  if (code === RESOURCE_NOT_FOUND)
    return { ...error, code: INVALID_PARAMS, ...(uri === undefined ? {} : { data: { uri } }) };
  const isReserved = Number(code) >= RESERVED_CODES.from && Number(code) <= RESERVED_CODES.to;
  return isReserved ? { ...error, code: INTERNAL_ERROR, ...(data === undefined ? {} : { data }) } : error;
}

/** Returns tools without members that the revision does not have. */
function modernTools(tools: readonly unknown[], { hidesHeaders }: Terms): unknown[] {
  return tools.map((tool) => {
    if (!isRecord(tool)) return tool;
    const { execution: _, ...rest } = tool;
    return hidesHeaders && isRecord(rest.inputSchema)
      ? { ...rest, inputSchema: withoutHeaders(rest.inputSchema) }
      : rest;
  });
}

/** Returns a schema whose properties name no HTTP header. Only a chain of `properties` may name one. */
function withoutHeaders(schema: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { 'x-mcp-header': _, ...rest } = schema;
  if (!isRecord(rest.properties)) return rest;
  const properties = Object.entries(rest.properties).map(([name, property]) => [
    name,
    isRecord(property) ? withoutHeaders(property) : property,
  ]);
  return { ...rest, properties: Object.fromEntries(properties) };
}
