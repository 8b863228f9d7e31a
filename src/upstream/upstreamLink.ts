import { oneLine } from '../ops/porcelain.ts';
import { type UpstreamClient, type UpstreamClientOptions, UpstreamRequestError } from '../protocol/upstreamClient.ts';

export type LinkFailureState = 'failed' | 'needs_sign_in' | 'needs_secret';

/** Why a server could not be reached, in one sentence, and what that makes of it. */
export class LinkFailure extends Error {
  override readonly name = 'LinkFailure';
  readonly state: LinkFailureState;
  /** How long the server asks to wait. */
  readonly retryAfterSeconds: number | undefined;

  constructor(reason: string, state: LinkFailureState = 'failed', retryAfterSeconds?: number) {
    super(reason);
    this.state = state;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface LinkEvents {
  /** The way has gone by itself, for the reason given. Told once, and never after `close`. */
  onLost(reason: string): void;
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

/** What a failed request says, for a person. */
export function describeRequestError(
  error: unknown,
  timeoutMs: number,
  scrubSecrets: (text: string) => string,
): string {
  if (error instanceof UpstreamRequestError) {
    if (error.failure === 'timeout') return `It did not answer within ${timeoutMs / 1000} s.`;
    return `It answered with an error: ${oneLine(scrubSecrets(error.message), 200)}.`.replace(/\.\.$/, '.');
  }
  return error instanceof Error ? error.message : String(error);
}
