import type { Fault } from '../../errors/fault.ts';
import { type CallOptions, type UpstreamClient, UpstreamRequestError } from '../../mcp/wire/upstreamClient.ts';
import { completedByProbe, judgeProbe, type Probe } from '../../replay/probe.ts';
import type { ReplayContract } from '../../replay/replay.ts';
import type { ProbeResolution } from '../../replay/requestDisposition.ts';
import type { CallPermit } from '../../supervision/circuitBreaker.ts';
import type { Live } from '../start/serverStart.ts';
import type { LinkFailure } from '../transports/upstreamLink.ts';

export type Json = Record<string, unknown>;

export interface RequestOptions extends CallOptions {
  /** Contract that decides about a lost request (O3.1). Without it, the contract of the method. */
  contract?: ReplayContract | undefined;
  /** How to find out whether it took effect, of a call whose contract asks for that. */
  probe?: Probe | undefined;
  /** How often it may be sent again after it was lost; once without it. */
  maxReplays?: number;
  /** The one start that may have it: what it is about has ended with any other. */
  start?: number;
  /**
   * Told each time just before it is sent, and awaited where there is something to await: it is not sent before. Where
   * that rejects nobody wants it any more.
   */
  onSend?: (() => Promise<void> | undefined) | undefined;
  /** Told at its end: how often it was sent in all. */
  onEnd?: (dispatches: number) => void;
}

/** The server behind the calls, as they need it; `ServerLife` is one. */
export interface CalledServer {
  /** What runs and can be sent a call. */
  readonly usable: Live | undefined;
  /** Starts it where need be; rejects with a `NotDispatchedError` where it cannot be had in time. */
  waitUntilReady(options: CallOptions, deadline: number): Promise<unknown>;
  /** Said of a server that serves, but not all that was asked of it. */
  remark(words: string | undefined): void;
  faultOf(failure: LinkFailure): Fault;
  scrubSecrets(text: string): string;
}

/** A request from its beginning to its one end. */
export interface Request {
  readonly method: string;
  readonly params: Json;
  readonly options: RequestOptions;
  readonly deadline: number;
  readonly permit: CallPermit;
  /** The arguments of its probe, where it can be probed. */
  readonly asked: Json | undefined;
  readonly onAbort: () => void;
  resolve(result: Json): void;
  reject(error: Error): void;
  /** Which start it was sent to last. */
  generation: number;
  /** It waits for a start. */
  awaits: boolean;
  /** How often in a row it was handed back. */
  returns: number;
  /** What was thrown, where something was. */
  thrown: Error | undefined;
}

export type Answer =
  | { readonly result: Json; readonly error?: undefined }
  | { readonly result?: undefined; readonly error: Error };
/** Whether a lost call took effect; undefined where the server was lost with the question too. */
export async function askProbe(client: UpstreamClient, request: Request): Promise<ProbeResolution | undefined> {
  const { options, asked, deadline } = request;
  const { probe, signal } = options;
  if (!probe || !asked) return 'unresolved';
  const timeoutMs = Math.max(1, deadline - performance.now());
  try {
    return judgeProbe(probe, await client.callTool(probe.tool, asked, { timeoutMs, ...(signal ? { signal } : {}) }));
  } catch {
    return client.closed ? undefined : 'unresolved';
  }
}

/** What a call is answered with that has taken effect and lost its answer. */
export function completedResult({ params, options }: Request): Json {
  return completedByProbe(String(params.name), options.probe as Probe);
}

export function cancelled(): UpstreamRequestError {
  return new UpstreamRequestError('aborted', 'the call was cancelled');
}
