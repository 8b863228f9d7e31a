import { isUtf8 } from 'node:buffer';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { INTERNAL_ERROR, INVALID_REQUEST } from '../../errors/rpcCodes.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { faultResponse } from '../../link/frameFault.ts';
import { errorResponse, isRequestId, peekId, type RequestId } from '../../link/frames.ts';
import { isMeta } from '../metaForm.ts';
import { frameShape, MAX_FRAME_DEPTH, withoutDepths } from './frameShape.ts';
import type { Oddities } from './oddities.ts';

export interface FrameReading {
  oddities: Oddities;
  /** Whether to allow batches, as in revision 2025-03-26. */
  allowsBatches: boolean;
  /** Returns whether to drop subtrees that nest too deep: a list is useful without one tool's schema. */
  isList(id: RequestId): boolean;
}

export interface ReadFrame {
  messages: readonly JSONRPCMessage[];
  /** Error answers to invalid requests of the server. */
  replies: readonly string[];
  /** Whether the frame contains anything but messages. */
  isGarbage: boolean;
  /** Whether the messages differ from the frame. */
  isAltered: boolean;
}

type ResultMessage = { jsonrpc: '2.0'; id: RequestId; result: Record<string, unknown> };

const BYTE_ORDER_MARK = /^\ufeff/;
/** Number of bytes to search for the id of an invalid answer. */
const PEEK_BYTES = 1024;

/**
 * Reads one frame of a server. A defect in an answer with a readable id fails that call at once; nothing is guessed
 * (M7.1).
 */
export function readUpstreamFrame(line: Buffer, reading: FrameReading): ReadFrame {
  const reader = new FrameReader(reading);
  reader.read(line);
  return reader;
}

class FrameReader implements ReadFrame {
  readonly messages: JSONRPCMessage[] = [];
  readonly replies: string[] = [];
  isGarbage = false;
  isAltered = false;
  readonly #reading: FrameReading;

  constructor(reading: FrameReading) {
    this.#reading = reading;
  }

  read(line: Buffer): void {
    const { oddities } = this.#reading;
    if (!BEGINS_MESSAGE.test(line.toString('latin1', 0, PEEK_BYTES))) {
      this.#garbage();
      return;
    }
    if (!isUtf8(line)) oddities.add('invalid_utf8');
    const { duplicate, tooDeep } = frameShape(line);
    this.isAltered = tooDeep.length > 0;
    const value = parse(withoutDepths(line, tooDeep));
    if (value === undefined) this.#unparsable(line);
    else if (Array.isArray(value)) this.#batch(value, duplicate, tooDeep.length > 0);
    else if (duplicate !== undefined)
      this.#refuse(value, 'duplicate_member', `has the member "${duplicate.slice(0, 40)}" twice`);
    else this.#one(value, tooDeep.length > 0);
  }

  #batch(items: readonly unknown[], duplicate: string | undefined, isTooDeep: boolean): void {
    // An event holds one message: within a stream the SDK reads no batch.
    this.isAltered = true;
    if (!this.#reading.allowsBatches) {
      for (const item of items)
        this.#refuse(item, 'batch', 'came in a batch, which is not part of this version of MCP');
    } else if (duplicate !== undefined) {
      for (const item of items)
        this.#refuse(item, 'duplicate_member', `has the member "${duplicate.slice(0, 40)}" twice`);
    } else for (const item of items) this.#one(item, isTooDeep);
  }

  /** Treats a line that is no JSON as a log line, unless it looks like an answer. */
  #unparsable(line: Buffer): void {
    const head = line.subarray(0, PEEK_BYTES);
    const id = head[0] === OPEN_OBJECT && head.includes(VERSION_MEMBER) ? peekId(head, 'answer') : undefined;
    if (id === undefined) this.#garbage();
    else this.#fault(id, 'malformed_response', 'an answer that is not JSON');
  }

  #one(value: unknown, isTooDeep: boolean): void {
    if (!isRecord(value)) this.#garbage();
    else if (typeof value.method === 'string') this.#fromServer(value, value.method, isTooDeep);
    else this.#response(value, isTooDeep);
  }

  /** Reads a request or a notification. */
  #fromServer(value: Record<string, unknown>, method: string, isTooDeep: boolean): void {
    const { jsonrpc, id, params } = value;
    // A log line of JSON may contain a "method".
    if (jsonrpc !== '2.0') this.#garbage();
    else if (id !== undefined && !isRequestId(id)) this.#oddId(id);
    else if (isTooDeep) this.#refuseRequest(id, `nests deeper than ${MAX_FRAME_DEPTH} levels`);
    else {
      const head = { jsonrpc, ...(id !== undefined && { id }), method } as const;
      const given = this.#withoutNullMeta(params);
      if (given === undefined || given === null) this.#push(value, head);
      else if (isRecord(given) && isMeta(given._meta)) this.#push(value, { ...head, params: given });
      else if (id === undefined && isRecord(params)) this.#withoutMeta(method, params);
      else this.#refuseRequest(id, 'is not valid in MCP');
    }
  }

  /**
   * Drops an invalid `_meta` of a notification. Notifications have no error answer, and a call may depend on its
   * progress.
   */
  #withoutMeta(method: string, params: Record<string, unknown>): void {
    this.isAltered = true;
    this.#reading.oddities.add('malformed_request');
    const { _meta: _bad, ...rest } = params;
    this.messages.push({ jsonrpc: '2.0', method, params: rest });
  }

  #response(value: Record<string, unknown>, isTooDeep: boolean): void {
    const { jsonrpc, id, result, error } = value;
    const hasResult = result !== undefined && result !== null;
    const hasError = error !== undefined && error !== null;
    if (jsonrpc === undefined && !hasResult && !hasError) this.#garbage();
    else if (!isRequestId(id)) this.#oddId(id);
    else if (jsonrpc !== '2.0') this.#fault(id, 'malformed_response', 'an answer that is not JSON-RPC 2.0');
    else if (hasResult && hasError) this.#fault(id, 'malformed_response', 'an answer with both a result and an error');
    else if (hasError) this.#push(value, { jsonrpc, id, error: this.#readError(error) });
    else if (!isRecord(result)) this.#fault(id, 'bad_result', 'an answer whose result is not an object');
    else this.#result(value, { jsonrpc, id, result: this.#withoutNullMeta(result) }, isTooDeep);
  }

  #result(value: Record<string, unknown>, message: ResultMessage, isTooDeep: boolean): void {
    const { id, result } = message;
    if (isTooDeep) this.#reading.oddities.add('frame_too_deep');
    if (isTooDeep && !this.#reading.isList(id)) {
      this.#fault(id, 'bad_result', `an answer that nests deeper than ${MAX_FRAME_DEPTH} levels`);
    } else if (!isMeta(result._meta)) {
      this.#fault(id, 'bad_result', 'an answer whose "_meta" is not valid in MCP');
    } else this.#push(value, message);
  }

  /**
   * Adds a message without unknown members and members that are `null`, for which the SDK would reject it over HTTP.
   */
  #push(value: Record<string, unknown>, message: JSONRPCMessage): void {
    this.isAltered ||= Object.keys(value).length !== Object.keys(message).length;
    this.messages.push(message);
  }

  /** Removes `_meta: null`, which many serialisers write for a missing value and no schema of MCP accepts. */
  #withoutNullMeta<T>(value: T): T {
    if (!isRecord(value) || value._meta !== null) return value;
    this.isAltered = true;
    const { _meta: _nothing, ...rest } = value;
    return rest as T;
  }

  /** Reads an error and keeps its words, even if its form is wrong. */
  #readError(error: unknown): { code: number; message: string; data?: unknown } {
    const { code, message, data } = isRecord(error) ? error : { message: error };
    const isRight = Number.isSafeInteger(code) && typeof message === 'string';
    if (!isRight) {
      this.isAltered = true;
      this.#reading.oddities.add('malformed_response');
    }
    return {
      code: Number.isSafeInteger(code) ? (code as number) : INTERNAL_ERROR,
      message: typeof message === 'string' ? message : 'an error without a message',
      ...(data === undefined ? {} : { data }),
    };
  }

  /** Rejects an ambiguous message, and reports that to the waiting side at once. */
  #refuse(value: unknown, oddity: 'duplicate_member' | 'batch', why: string): void {
    if (!isRecord(value) || (value.jsonrpc === undefined && !('result' in value) && !('error' in value))) {
      this.#garbage();
      return;
    }
    this.isAltered = true;
    this.#reading.oddities.add(oddity);
    const { id, method } = value;
    if (typeof method === 'string') this.#refuseRequest(id, why);
    else if (isRequestId(id) && !why.includes('"id"')) this.#fault(id, 'malformed_response', `an answer that ${why}`);
  }

  #refuseRequest(id: unknown, why: string): void {
    this.isAltered = true;
    this.#reading.oddities.add('malformed_request');
    if (isRequestId(id)) this.replies.push(errorResponse(id, INVALID_REQUEST, `The request ${why}.`));
  }

  #fault(id: RequestId, fault: 'malformed_response' | 'bad_result', message: string): void {
    this.isAltered = true;
    this.#reading.oddities.add(fault);
    this.messages.push(faultResponse(id, fault, message));
  }

  #oddId(id: unknown): void {
    this.isAltered = true;
    this.#reading.oddities.add(id === null || id === undefined ? 'null_id' : 'mistyped_id');
  }

  #garbage(): void {
    this.isGarbage = true;
    this.isAltered = true;
    this.#reading.oddities.add('garbage_line');
  }
}

/** Matches text that may be a message. Floods of other text are not worth a parser's exception each. */
const BEGINS_MESSAGE = /^(?:\u00ef\u00bb\u00bf)?\s*[[{]/;
const OPEN_OBJECT = 0x7b;
const VERSION_MEMBER = '"jsonrpc"';

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8').replace(BYTE_ORDER_MARK, ''));
  } catch {
    return undefined;
  }
}
