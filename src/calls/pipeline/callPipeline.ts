import type { CatalogTool } from '../../catalog/types.ts';
import type { CallSettings } from '../../config/declaration/callBlocks.ts';
import { DEFAULT_SETTINGS } from '../../config/declaration/document.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { RequestId } from '../../link/frames.ts';
import type { ReplayContract } from '../../replay/replay.ts';
import type { CallOrigin } from '../../upstream/connection/callOrigin.ts';
import { thrownWords } from '../../upstream/connection/judgeThrown.ts';
import type { JsonObject } from '../json.ts';
import { type ApprovalPort, type ApprovalStore, Approvals } from '../policy/approval.ts';
import { type AuthorizedCall, authorize } from '../policy/authorize.ts';
import {
  type EgressFinding,
  type EgressVerdict,
  type FindSecrets,
  guardEgress,
  judgeEgress,
  refusal,
} from '../policy/egress.ts';
import { decide, decideStrictly, type PolicyDecision, type PolicyTool, subjectOf } from '../policy/policy.ts';
import { type QuotaDecision, RateLimiter } from '../policy/quota.ts';
import type { LaterPort } from '../policy/unasked.ts';
import type { ArgRepair } from '../validation/argRepairs.ts';
import { ArgumentValidator } from '../validation/argumentValidator.ts';
import { CallHistory } from './callHistory.ts';
import type { CallTrace } from './callTrace.ts';
import type { CallProgress, Upstream } from './dispatchCall.ts';
import type { DryRunReport } from './dryRun.ts';
import { ResultCache } from './resultCache.ts';
import type { Attempts } from './retry.ts';
import { SharedCalls } from './sharedCalls.ts';
import { STAGES } from './stages.ts';

/** Call as a mode requests it. */
export interface CallRequest {
  toolId: string;
  args: unknown;
  dryRun?: boolean;
  /** The request's `_meta`, for the server. */
  meta?: Readonly<JsonObject> | undefined;
  /** Routes requests that the server sends during the call. */
  origin?: CallOrigin | undefined;
  /** Owner of quota and approvals: an MCP session, inside VS Code a conversation. */
  session: object;
  /** Id of the client's request, as the host knows it. */
  requestId?: RequestId | undefined;
  /** True for a request that the host sends again: an earlier worker counted it against the quota. */
  counted?: boolean | undefined;
  signal: AbortSignal;
  /** Reports the replay contract and the tool before the call is sent: see `CallContext.begins`. */
  begins?: ((contract: ReplayContract, toolId: string) => Promise<void> | undefined) | undefined;
  /** Receives progress. Progress extends the deadline too. */
  onProgress?: ((progress: CallProgress) => void) | undefined;
  /** Asks the user through this client. */
  approval?: ApprovalPort | undefined;
  trace?: CallTrace | undefined;
  /** The client shows the tool itself and asks the user before it calls it. */
  askedByClient?: boolean;
  /** Tools of the catalog view on which the call started and finishes (G8.1). */
  tools: ReadonlyMap<string, CatalogTool>;
  /** The error for an id that the view does not hold. */
  unknownTool(toolId: string): GatewayError;
}

/** Dependencies of the pipeline on other rooms. `R` is a result after the firewall. */
export interface PipelinePorts<R> {
  upstream(server: string): Upstream | undefined;
  /** Must not change the result, because equal calls share it. */
  firewall(result: JsonObject, call: FirewalledCall): R | Promise<R>;
  /** Masks secrets. `from` is the server that sent the text. */
  scrubSecrets(text: string, from?: string): string;
  /** Reports whether a tool may run as it is known to the call. Without it, every tool may. */
  trust?(tool: CatalogTool): TrustVerdict;
  findSecrets?: FindSecrets;
  /** Called when the user allowed that a secret is sent to a server. */
  onSecretAllowed?(server: string, finding: EgressFinding): void;
  approval?: ApprovalPort;
  approvalStore?: ApprovalStore;
  /** Shows the user later the questions that reached nobody. */
  later?: LaterPort;
  log?(line: string): void;
  /** Seconds since any fixed time, and a random number in [0, 1). */
  now?(): number;
  random?(): number;
}

/** Verdict about a tool whose definition may differ from the approved one. */
export interface TrustVerdict {
  /** Error for a tool that may not run. */
  refusal?: GatewayError;
  /** Reason to ask the user first. */
  question?: string;
}

export interface FirewalledCall {
  tool: CatalogTool;
  session: object;
  /** Additions to the envelope's provenance: `arg_repairs`, `cache_hit`, `args_unchecked`. */
  provenance: JsonObject;
}

export interface CallDiagnostics {
  toolId: string;
  /** 0 if nothing was dispatched. */
  attempts: number;
  retryDelays: readonly number[];
  cacheHit: boolean;
  /** Whether another call's dispatch answered this one. */
  shared: boolean;
  durationMs: number;
}

export type CallOutcome<R> =
  | {
      kind: 'result';
      result: R;
      diagnostics: CallDiagnostics;
      repairs: readonly ArgRepair[];
      /** Why the arguments were not checked. */
      unchecked?: string | undefined;
    }
  | { kind: 'dry_run'; report: DryRunReport };

/** State of a call on its way through the stages; each stage adds its part. */
export interface Call<R> {
  readonly request: CallRequest;
  /** True in passthrough mode: the server judges the arguments, and its raw answer is returned. */
  readonly forwarded: boolean;
  readonly startedAt: number;
  tool: CatalogTool;
  upstream: Upstream;
  args: unknown;
  repairs: readonly ArgRepair[];
  /** Why the arguments could not be validated. */
  unchecked?: string;
  /** Reason of the trust stage to ask the user. */
  question?: string;
  /** Secrets in the arguments that need an approval. */
  egress?: readonly EgressVerdict[];
  policy?: PolicyDecision;
  quota?: QuotaDecision;
  cacheKey?: string;
  cacheGeneration: number;
  cacheHit: boolean;
  shared: boolean;
  attempts?: Attempts<JsonObject>;
  raw?: JsonObject;
  result?: R;
  /** Set by the stage that ends the chain early. */
  report?: DryRunReport;
}

/** Parts that the pipeline owns and the stages use. */
export interface PipelineParts {
  readonly config: CallSettings;
  readonly validator: ArgumentValidator;
  readonly approvals: Approvals;
  readonly limiter: RateLimiter;
  readonly cache: ResultCache;
  readonly shared: SharedCalls<Attempts<JsonObject>>;
  readonly history: CallHistory;
}

export type Stage = <R>(call: Call<R>, parts: PipelineParts, ports: PipelinePorts<R>) => void | Promise<void>;

/**
 * Runs a call through its stages in order (G7.1). A stage that refuses the call throws a `GatewayError`, and no other
 * error leaves the pipeline. A dry run ends at its stage.
 */
export class CallPipeline<R> {
  readonly #ports: PipelinePorts<R>;
  #parts: PipelineParts;
  readonly #watchers = new WeakMap<object, (counted?: RequestId) => void>();

  constructor(ports: PipelinePorts<R>, config: CallSettings = DEFAULT_SETTINGS) {
    this.#ports = ports;
    const changed = (session: object, counted?: RequestId): void => this.#watchers.get(session)?.(counted);
    this.#parts = {
      config,
      validator: new ArgumentValidator({ limits: config.schemaLimits }),
      approvals: new Approvals(ports.approval, ports.approvalStore, changed, ports.later),
      limiter: new RateLimiter(config.rateLimits, ports.now, changed),
      cache: new ResultCache(config.cache, ports.now),
      shared: new SharedCalls(),
      history: new CallHistory(),
    };
  }

  /** Puts an edited configuration in force for the calls that begin from now on. Counts and approvals stay. */
  adopt(config: CallSettings): void {
    const { validator, limiter, cache, shared } = this.#parts;
    this.#parts = { ...this.#parts, config };
    validator.adopt(config.schemaLimits);
    limiter.limits = config.rateLimits;
    cache.adopt(config.cache);
    shared.clear();
  }

  /** Limiter for `tool_browse` and `tool_view` too, which do not use the pipeline. */
  get limiter(): RateLimiter {
    return this.#parts.limiter;
  }
  get approvals(): Approvals {
    return this.#parts.approvals;
  }
  get validator(): ArgumentValidator {
    return this.#parts.validator;
  }

  /** Returns a session's counts, approvals and kept questions for the next worker; undefined if it has none. */
  memoryOf(session: object): object | undefined {
    const { limiter, approvals } = this.#parts;
    const [quota, given] = [limiter.memoryOf(session), approvals.memoryOf(session)];
    return quota || given ? { quota, ...given } : undefined;
  }

  /** Calls `onChange` at each change of this memory, with the request that was counted, before the call is sent. */
  watchMemory(session: object, onChange: (counted?: RequestId) => void): void {
    this.#watchers.set(session, onChange);
  }

  /** Restores the result of `memoryOf` from another process, `age` seconds old. */
  remember(session: object, memory: unknown, age = 0): void {
    const { quota, ...given } = (memory ?? {}) as { quota?: unknown; approved?: unknown; unasked?: unknown };
    this.#parts.limiter.remember(session, quota, age);
    this.#parts.approvals.remember(session, given);
  }

  async execute(request: CallRequest): Promise<CallOutcome<R>> {
    const call = begin<R>(request, false);
    await this.#run(call);
    if (call.report) return { kind: 'dry_run', report: call.report };
    const { result, repairs, unchecked } = call;
    return { kind: 'result', result: result as R, diagnostics: diagnosticsOf(call), repairs, unchecked };
  }

  /** Runs the checks for a call that the client made by the server's own name, and returns the server's raw answer. */
  async forward(request: CallRequest): Promise<JsonObject> {
    const call = begin<R>(request, true);
    await this.#run(call);
    return call.raw as JsonObject;
  }

  async #run(call: Call<R>): Promise<void> {
    // A call keeps the configuration that it began with.
    const parts = this.#parts;
    const { trace } = call.request;
    let begin = trace?.durationMs ?? 0;
    try {
      for (const { name, run } of STAGES) {
        try {
          // Most stages have nothing to wait for.
          const running = run(call, parts, this.#ports);
          if (running) await running;
        } finally {
          const end = trace?.durationMs ?? 0;
          trace?.stages.push({ stage: name, durationMs: end - begin });
          begin = end;
        }
        if (call.report) return;
      }
    } catch (error) {
      throw error instanceof GatewayError ? error : this.#unexpected(error, call.request);
    }
  }

  /**
   * Decides whether a caller may view a result of a tool again: a rule can name `tool_view` (G11.7). If the tool is not
   * known, the strictest rule that could apply decides.
   */
  async authorizeView(call: Omit<AuthorizedCall, 'metaTool' | 'args'>, isKnown = true): Promise<void> {
    const { config, approvals } = this.#parts;
    const decision = isKnown
      ? decide(config.policy, subjectOf(call.tool, 'tool_view'))
      : decideStrictly(config.policy, 'tool_view');
    await authorize(decision, { ...call, metaTool: 'tool_view', args: {} }, approvals);
  }

  /** Guards what a read sends: an address, the arguments of a prompt, `_meta`. Calls have a stage for this. */
  async guardEgress(call: Omit<AuthorizedCall, 'metaTool' | 'args'>, sent: readonly unknown[]): Promise<void> {
    const { config, approvals } = this.#parts;
    const { findSecrets, onSecretAllowed } = this.#ports;
    const onAllowed = (finding: EgressFinding): void => onSecretAllowed?.(call.tool.server, finding);
    await guardEgress(judgeEgress(config, call.tool, sent, findSecrets), call, approvals, onAllowed);
  }

  /**
   * Returns the error for what must not be sent, where the user cannot be asked: answers and notifications. What the
   * user typed for the server may have the form of a secret (`byUser`).
   */
  egressRefusal(
    tool: PolicyTool,
    sent: unknown,
    { session = {}, byUser = false }: { session?: object; byUser?: boolean },
  ): GatewayError | undefined {
    const { config, approvals } = this.#parts;
    const refused = judgeEgress(config, tool, [sent], this.#ports.findSecrets).find(
      ({ finding, decision, subject }) =>
        decision.action === 'deny' ||
        !((byUser && finding.kind === 'form') || approvals.isRemembered(subject, session)),
    );
    return refused && refusal(refused, tool);
  }

  /** Drops everything that depends on the catalog. Call it in the same synchronous step as the rebuild (G8.1). */
  invalidate(): void {
    this.#parts.cache.clear();
    this.#parts.shared.clear();
    this.#parts.validator.clear();
  }

  dispose(): void {
    this.#parts.validator.dispose();
  }

  #unexpected(error: unknown, { toolId, signal }: CallRequest): GatewayError {
    if (signal.aborted) {
      return new GatewayError('CANCELLED', 'The call was cancelled before it was sent.', {
        path: toolId,
        details: { outcome: 'not_dispatched' },
      });
    }
    const detail = this.#ports.scrubSecrets(
      error instanceof Error ? (error.stack ?? error.message) : thrownWords(error),
    );
    this.#ports.log?.(`${toolId}: unexpected: ${detail}`);
    return new GatewayError(
      'UPSTREAM_ERROR',
      'Waygate itself failed on this call; the reason is in its log. Inform the user.',
      {
        path: toolId,
      },
    );
  }
}

function begin<R>(request: CallRequest, forwarded: boolean): Call<R> {
  return {
    request,
    forwarded,
    startedAt: performance.now(),
    // The first stage sets both, or throws.
    tool: undefined as unknown as CatalogTool,
    upstream: undefined as unknown as Upstream,
    args: request.args,
    repairs: [],
    cacheGeneration: 0,
    cacheHit: false,
    shared: false,
  };
}

function diagnosticsOf<R>({ tool, attempts, cacheHit, shared, startedAt }: Call<R>): CallDiagnostics {
  return {
    toolId: tool.id,
    attempts: attempts?.attempts ?? 0,
    retryDelays: attempts?.delays ?? [],
    cacheHit,
    shared,
    durationMs: performance.now() - startedAt,
  };
}
