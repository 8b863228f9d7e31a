import { isRecord } from '../../lib/isRecord.ts';
import { oneLine } from '../../text/porcelain.ts';
import { visibleJson } from '../../text/visibleText.ts';
import { boundAmbiguity } from '../provider/ambiguity.ts';
import type { ProviderFault } from '../provider/providerError.ts';
import type { RecordAnswer } from '../provider/recordProvider.ts';
import { cutBytes } from './boundedText.ts';

/** Result of `tools/call`: text for every client, and the same facts as data. */
export interface ToolAnswer {
  content: readonly { type: 'text'; text: string }[];
  structuredContent: Readonly<Record<string, unknown>>;
  isError?: true;
}

export type RefusalCode =
  | 'invalid_request'
  | 'invalid_filter'
  | 'invalid_expand'
  | 'invalid_id'
  | 'conflicting_connection_id'
  | 'ambiguous_schema_detail'
  | 'invalid_provider_answer'
  | ProviderFault;

/** Error that the surface itself finds, before or after a read. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: RefusalCode;
  readonly more: Readonly<Record<string, unknown>>;

  constructor(code: RefusalCode, message: string, more: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.code = code;
    this.more = more;
  }
}

/** Error answer of the provider, on its way to the client. */
export class Declined extends Error {
  override readonly name = 'Declined';
  readonly answer: RecordAnswer;

  constructor(answer: RecordAnswer) {
    super(`status ${answer.status}`);
    this.answer = answer;
  }
}

export function textAnswer(text: string, structuredContent: Readonly<Record<string, unknown>>): ToolAnswer {
  return { content: [{ type: 'text', text }], structuredContent };
}

export function refusalAnswer({ code, message, more }: Refusal, providerUrl: string): ToolAnswer {
  return errorAnswer({ type: 'adapter_error', code, message, ...more }, { provider_url: providerUrl });
}

export function declinedAnswer(answer: RecordAnswer, providerUrl: string): ToolAnswer {
  const error = errorOf(answer);
  const { requestId = typeof error.request_id === 'string' ? error.request_id : null } = answer;
  return errorAnswer(error, { provider_url: providerUrl, http_status: answer.status, request_id: requestId });
}

function errorAnswer(error: Readonly<Record<string, unknown>>, more: Readonly<Record<string, unknown>>): ToolAnswer {
  const text = cutBytes(visibleJson(error, 2), MAX_ERROR_BYTES);
  return { content: [{ type: 'text', text }], structuredContent: { error, ...more }, isError: true };
}

const MAX_ERROR_BYTES = 6_000;
const MAX_MESSAGE_CHARS = 1_000;
const MAX_BODY_CHARS = 200;

/** Returns the error of an answer in the form of a resource server, whatever form it came in (R6.1). */
function errorOf({ status, body }: RecordAnswer): Readonly<Record<string, unknown>> {
  const given = isRecord(body) ? body.error : undefined;
  if (isRecord(given)) {
    const { code, message, ...rest } = given;
    return boundAmbiguity({
      ...rest,
      code: isFilled(code) ? code : `http_${status}`,
      message: isFilled(message) ? bounded(message) : statusSentence(status),
    });
  }
  if (isFilled(given)) {
    const { error_description: description } = body as Record<string, unknown>;
    return {
      type: 'api_error',
      code: given,
      message: isFilled(description) ? bounded(description) : statusSentence(status),
    };
  }
  return { type: 'api_error', code: `http_${status}`, message: statusSentence(status, body) };
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function bounded(message: string): string {
  return message.length <= MAX_MESSAGE_CHARS ? message : oneLine(message, MAX_MESSAGE_CHARS);
}

/** Describes an answer without an error envelope. A page for a browser is not repeated. */
function statusSentence(status: number, body?: unknown): string {
  const words = isFilled(body) && !/^\s*</.test(body) ? ` and the text "${oneLine(body, MAX_BODY_CHARS)}"` : '';
  return `The record provider answered with the status ${status}${words}.`;
}

/** Returns the body of a successful answer as an object. */
export function bodyOf(answer: RecordAnswer): Record<string, unknown> {
  if (answer.status < 200 || answer.status > 299) throw new Declined(answer);
  if (isRecord(answer.body)) return answer.body;
  throw new Refusal(
    'invalid_provider_answer',
    `The record provider answered with the status ${answer.status} and no JSON object; check that its address is that of a resource server.`,
    { http_status: answer.status },
  );
}

/** Returns the envelope of a read: the provider's data, and where it comes from. */
export function envelope(data: unknown, answer: RecordAnswer, providerUrl: string): Record<string, unknown> {
  return { data, provider_url: providerUrl, request_id: answer.requestId ?? null };
}
