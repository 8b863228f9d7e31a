import type { KnownFaultCode } from '../../errors/faultCodes.ts';
import {
  type UpstreamClient,
  type UpstreamClientOptions,
  UpstreamRequestError,
} from '../../mcp/wire/upstreamClient.ts';
import { asSentence, oneLine } from '../../text/porcelain.ts';

/** Failure to reach a server: its reason in one sentence, and its fault code. */
export class LinkFailure extends Error {
  override readonly name = 'LinkFailure';
  readonly code: KnownFaultCode;
  /** Seconds that the server asks to wait. */
  readonly retryAfterSeconds: number | undefined;
  /** Name of the secret that is missing. */
  readonly secret: string | undefined;

  constructor(reason: string, code: KnownFaultCode = 'connection_lost', retryAfterSeconds?: number, secret?: string) {
    super(reason);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
    this.secret = secret;
  }
}

export interface LinkEvents {
  /** The link closed unexpectedly. Called once, and never after `close`. */
  onLost(reason: string, code: KnownFaultCode): void;
  log(line: string): void;
  /** Receives all of stderr. */
  onStderr?(chunk: Buffer): void;
  /** Masks secrets in everything a server says, before any cut: half a secret is still a secret. */
  scrubSecrets(text: string): string;
}

/** Link to one server, either a process or a URL. Connects once and closes once; each start makes a new link. */
export interface UpstreamLink {
  readonly pid: number | undefined;
  /** Last lines of stderr, if the server has one. */
  readonly stderr: readonly string[];
  /** Opens the link and completes `initialize`. */
  connect(options: UpstreamClientOptions, timeoutMs: number): Promise<UpstreamClient>;
  /** Describes a failure of `connect` or of a request during the start. */
  explain(error: unknown): Promise<LinkFailure>;
  /** Ends everything that belongs to the link. */
  close(): Promise<void>;
}

/** Returns the fault of a failed start. `greeted`: the server had answered `initialize`. */
export function startFault(error: unknown, greeted: boolean): KnownFaultCode {
  if (!(error instanceof UpstreamRequestError)) return 'exited_before_initialize';
  switch (error.failure) {
    case 'timeout':
      return 'handshake_timeout';
    case 'unauthorized':
      return 'unauthorized';
    case 'unsent':
      return 'connection_refused';
    case 'closed':
    case 'gone':
      return 'connection_lost';
    case 'protocol':
      return 'malformed_response';
    case 'version':
      return 'unsupported_version';
    default:
      // A JSON-RPC error is final; an HTTP status may differ in a minute.
      return !greeted && (error.code ?? 0) < 0 ? 'initialize_refused' : 'upstream_error';
  }
}

/** Describes a failed request for the user. */
export function describeRequestError(
  error: unknown,
  timeoutMs: number,
  scrubSecrets: (text: string) => string,
): string {
  if (!(error instanceof UpstreamRequestError)) {
    return scrubSecrets(error instanceof Error ? error.message : String(error));
  }
  const words = oneLine(scrubSecrets(error.message), 200);
  switch (error.failure) {
    case 'timeout':
      return `It did not answer within ${(error.timeoutMs ?? timeoutMs) / 1000} s.`;
    case 'closed':
    case 'gone':
      // The supervisor knows the exit of a process and reports it.
      return 'Its connection ended before it answered.';
    case 'error':
      return asSentence(`It answered with an error: ${words}`);
    case 'protocol':
      return asSentence(`Its answer cannot be used: ${words}`);
    case 'version':
      return `It uses an unsupported version of MCP (${words}).`;
    case 'unauthorized':
      return asSentence(`It refused access: ${words}`);
    default:
      return asSentence(`The request failed: ${words}`);
  }
}
