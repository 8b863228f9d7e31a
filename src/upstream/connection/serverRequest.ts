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
  /** Contract that decides about a lost request (O3.1); defaults to the contract of the method. */
  contract?: ReplayContract | undefined;
  /** Probe that finds out whether a lost call took effect, if the contract requires one. */
  probe?: Probe | undefined;
  /** Maximum of resends after a loss; defaults to one. */
  maxReplays?: number;
  /** Generation that may receive the request; its subject does not survive a restart. */
  start?: number;
  /**
   * Called before each dispatch; the request leaves only after the returned promise resolves. A rejection cancels the
   * call.
   */
  onSend?: (() => Promise<void> | undefined) | undefined;
  /** Called at the end with the number of dispatches. */
  onEnd?: (dispatches: number) => void;
}

/** The part of `ServerLife` that calls use. */
export interface CalledServer {
  /** Running server that can take a call. */
  readonly usable: Live | undefined;
  /** Starts the server if necessary; rejects with a `NotDispatchedError` if it is not ready in time. */
  waitUntilReady(options: CallOptions, deadline: number): Promise<unknown>;
  /** Notes that the server has answered a call. */
  proved(): void;
  /** Sets a note about a ready server that lacks something. */
  remark(words: string | undefined): void;
  faultOf(failure: LinkFailure): Fault;
  scrubSecrets(text: string): string;
}

/** A request from admission to its single outcome. */
export interface Request {
  readonly method: string;
  readonly params: Json;
  readonly options: RequestOptions;
  readonly deadline: number;
  readonly permit: CallPermit;
  /** Arguments of the probe; `undefined` if the call cannot be probed. */
  readonly asked: Json | undefined;
  readonly onAbort: () => void;
  resolve(result: Json): void;
  reject(error: Error): void;
  /** Generation of the last dispatch. */
  generation: number;
  /** True while the request waits for a start. */
  awaits: boolean;
  /** Number of consecutive returns to the journal. */
  returns: number;
  /** Last error of the request. */
  thrown: Error | undefined;
}

export type Answer =
  | { readonly result: Json; readonly error?: undefined }
  | { readonly result?: undefined; readonly error: Error };
/** Asks a server whether a lost call took effect; `undefined` if the server ends meanwhile. */
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

/** Returns the result of a call that took effect but lost its answer. */
export function completedResult({ params, options }: Request): Json {
  return completedByProbe(String(params.name), options.probe as Probe);
}

export function cancelled(): UpstreamRequestError {
  return new UpstreamRequestError('aborted', 'the call was cancelled');
}
