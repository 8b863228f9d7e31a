import { boundText, MAX_ANSWER_CHARS, oneLine } from '../text/porcelain.ts';
import { visibleJson } from '../text/visibleText.ts';
import type { Fault } from './fault.ts';

/** Codes of the error object (G4.2). */
export type GatewayErrorCode =
  | 'PATH_INVALID'
  | 'PATH_NOT_FOUND'
  | 'ARGS_INVALID'
  | 'SCHEMA_INVALID'
  | 'UPSTREAM_ERROR'
  | 'UPSTREAM_TIMEOUT'
  | 'UPSTREAM_UNAVAILABLE'
  | 'CANCELLED'
  | 'AUTH_FAILED'
  | 'AUTH_REQUIRED'
  | 'PERMISSION_DENIED'
  | 'POLICY_DENIED'
  | 'RATE_LIMITED'
  | 'HYDRATE_FAILED'
  | 'VIEW_FAILED'
  | 'RESOURCE_NOT_FOUND'
  | 'PROMPT_NOT_FOUND';

export interface GatewayErrorObject {
  error: GatewayErrorCode;
  message: string;
  path: string;
  retryable: boolean;
  details?: Record<string, unknown>;
}

/** Codes for which the same call may succeed later. */
const RETRYABLE: ReadonlySet<GatewayErrorCode> = new Set(['UPSTREAM_TIMEOUT', 'UPSTREAM_UNAVAILABLE', 'RATE_LIMITED']);

export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: GatewayErrorCode;
  readonly path: string;
  readonly retryable: boolean;
  readonly details: Record<string, unknown> | undefined;
  /** Fault behind the error, for telemetry. */
  readonly fault: Fault | undefined;

  constructor(
    code: GatewayErrorCode,
    message: string,
    options: {
      path?: string;
      retryable?: boolean;
      details?: Record<string, unknown>;
      cause?: unknown;
      fault?: Fault;
    } = {},
  ) {
    // A single bounded line without control characters, whatever the caller passes (G4.5).
    super(oneLine(message), options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.path = options.path ?? '';
    this.retryable = options.retryable ?? RETRYABLE.has(code);
    this.details = options.details;
    this.fault = options.fault;
  }

  /** Returns the wire form. `details` is absent where it would be empty (G4.1). */
  toObject(): GatewayErrorObject {
    return {
      error: this.code,
      message: this.message,
      path: this.path,
      retryable: this.retryable,
      ...(this.details && Object.keys(this.details).length > 0 ? { details: this.details } : {}),
    };
  }
}

/** Renders an error. The first word marks it as one, because VS Code passes on the text of a failed result unmarked. */
export function errorText(error: GatewayError): string {
  const lines = [`Error ${error.code}: ${error.message}`];
  for (const [name, value] of Object.entries(error.details ?? {})) {
    // The problems name their places in words; the list is for forms.
    if (name === 'places') continue;
    if (isListOfTexts(value)) lines.push(`${name}:`, ...value.map((item) => `- ${foreignLine(item)}`));
    else lines.push(`${name}: ${typeof value === 'string' ? foreignLine(value) : visibleJson(value)}`);
  }
  if (error.retryable) lines.push('retryable: the same call may succeed later');
  return boundText(lines.join('\n'));
}

/** Renders a detail as one line, because details quote schemas and servers. */
function foreignLine(detail: string): string {
  return oneLine(detail, MAX_ANSWER_CHARS);
}

function isListOfTexts(value: unknown): value is string[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string' && item.includes(' '))
  );
}
