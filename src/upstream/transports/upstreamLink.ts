import type { KnownFaultCode } from '../../errors/faultCodes.ts';
import {
  type UpstreamClient,
  type UpstreamClientOptions,
  UpstreamRequestError,
} from '../../mcp/wire/upstreamClient.ts';
import { asSentence, oneLine } from '../../text/porcelain.ts';

/** Why a server could not be reached, in one sentence, and which fault that is. */
export class LinkFailure extends Error {
  override readonly name = 'LinkFailure';
  readonly code: KnownFaultCode;
  /** How long the server asks to wait. */
  readonly retryAfterSeconds: number | undefined;

  constructor(reason: string, code: KnownFaultCode = 'connection_lost', retryAfterSeconds?: number) {
    super(reason);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface LinkEvents {
  /** The way has gone by itself, for the reason given. Told once, and never after `close`. */
  onLost(reason: string, code: KnownFaultCode): void;
  log(line: string): void;
  /** Applied to all that a server says, before it is cut: half a secret is one still. */
  scrubSecrets(text: string): string;
}

/** A way to one server: a process of its own, or a URL. It is connected once and closed once; a new start has a new one. */
export interface UpstreamLink {
  readonly pid: number | undefined;
  /** The last lines the server wrote to stderr, where it has one. */
  readonly stderr: readonly string[];
  /** Opens the way and completes `initialize`. */
  connect(options: UpstreamClientOptions, timeoutMs: number): Promise<UpstreamClient>;
  /** What went wrong in `connect` or in a request that belongs to the start. */
  explain(error: unknown): Promise<LinkFailure>;
  /** Ends all that belongs to the way. */
  close(): Promise<void>;
}

/** Which fault it is that a start met; `greeted`: it had answered `initialize`. */
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
      // An error of JSON-RPC is its last word; a status of HTTP may be another in a minute.
      return !greeted && (error.code ?? 0) < 0 ? 'initialize_refused' : 'upstream_error';
  }
}

/** What a failed request says, for a person. */
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
      // What is known of the end of a process is told by its supervisor.
      return 'Its connection ended before it had answered.';
    case 'error':
      return asSentence(`It answered with an error: ${words}`);
    case 'protocol':
      return asSentence(`Its answer cannot be used: ${words}`);
    case 'version':
      return `It speaks a version of MCP that is not known here (${words}).`;
    case 'unauthorized':
      return asSentence(`It does not let us in: ${words}`);
    default:
      return asSentence(`It could not be asked: ${words}`);
  }
}
