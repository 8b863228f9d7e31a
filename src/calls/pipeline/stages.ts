import type { CatalogTool } from '../../catalog/types.ts';
import { settingsFor } from '../../config/declaration/block.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import { isRecord } from '../../lib/isRecord.ts';
import type { JsonObject } from '../json.ts';
import { authorize } from '../policy/authorize.ts';
import { guardEgress, judgeEgress, sentParts } from '../policy/egress.ts';
import { decide, isDefaultQuestion, type PolicyDecision, subjectOf } from '../policy/policy.ts';
import { type QuotaSubject, rateLimited } from '../policy/quota.ts';
import { overrideFor } from '../settings/overrides.ts';
import { replayFor } from '../settings/replaySettings.ts';
import { repairArgs } from '../validation/argRepairs.ts';
import { argumentError } from '../validation/argumentError.ts';
import { resultBytes } from './callHistory.ts';
import type { Call, PipelineParts, PipelinePorts, Stage } from './callPipeline.ts';
import { type ClientEnd, type DispatchTerms, dispatchCall, type Upstream } from './dispatchCall.ts';
import { dispatchError } from './dispatchError.ts';
import type { DryRunCheck } from './dryRun.ts';
import { cacheKey } from './resultCache.ts';
import { asTask, canRunTasks } from './runTask.ts';

/** Resolves the tool in the call's own view of the catalog. A renamed or removed tool fails closed (G8.2). */
const hydrate: Stage = (call, _parts, ports) => {
  const { toolId, tools } = call.request;
  const tool = tools.get(toolId);
  if (!tool) throw call.request.unknownTool(toolId);
  call.tool = tool;
  if (call.request.trace) call.request.trace.tool = tool;
  call.upstream = upstreamOf(tool, ports);
};

function upstreamOf<R>(tool: CatalogTool, ports: PipelinePorts<R>): Upstream {
  const upstream = ports.upstream(tool.server);
  if (upstream) return upstream;
  throw new GatewayError(
    'HYDRATE_FAILED',
    `The server ${tool.server} is no longer in the configuration. Find another tool with tool_browse.`,
    { path: tool.id },
  );
}

/** Repairs arguments where the user opted in. Otherwise validation sees what was sent (G6.8). */
const repair: Stage = (call, { config }) => {
  if (!config.tolerantArgs || call.forwarded) return;
  const { args, repairs } = repairArgs(call.args, call.tool.inputSchema);
  call.args = args;
  call.repairs = repairs;
  if (call.request.trace) call.request.trace.repairs = repairs;
};

const validate: Stage = async (call, { validator }, { scrubSecrets }) => {
  const { tool, args } = call;
  if (!isRecord(args)) {
    throw new GatewayError('ARGS_INVALID', `The arguments of ${tool.name} must be an object: {"name": value}.`, {
      path: tool.id,
      details: { path: [] },
    });
  }
  if (call.forwarded) return;
  const verdict = await validator.validate(tool.inputSchema, args);
  if (verdict.kind === 'unchecked') call.unchecked = verdict.reason;
  if (verdict.kind === 'invalid' || verdict.kind === 'bad_schema')
    throw argumentError(tool, verdict, args, scrubSecrets);
};

/** Keeps secrets from the server. A dry run reports a refusal, and asks nobody. */
const egress: Stage = (call, { config, approvals }, ports) => {
  const { tool, args, request } = call;
  const { session, signal, approval, trace, dryRun: isDry, meta } = request;
  call.egress = judgeEgress(config, tool, sentParts(args, meta), ports.findSecrets);
  if (call.egress.length === 0) return;
  const asks = call.egress.every(({ decision }) => decision.action === 'require_approval');
  // A call that a rule denies needs no question.
  if (asks && (isDry || decide(config.policy, subjectOf(tool, 'tool_execute')).action === 'deny')) return;
  return guardEgress(call.egress, { tool, session, signal, approval, trace }, approvals, (finding) =>
    ports.onSecretAllowed?.(tool.server, finding),
  );
};

/** Refuses a tool that differs from what the user approved (T2). */
const trust: Stage = (call, _parts, ports) => {
  const { refusal, question } = ports.trust?.(call.tool) ?? {};
  if (refusal) throw refusal;
  if (question !== undefined) call.question = question;
};

/** Applies the user's rules, and asks the user if a rule or a change of the tool requires approval. */
const policy: Stage = (call, { config, approvals }) => {
  const { tool, request, question } = call;
  const found = decide(config.policy, subjectOf(tool, 'tool_execute'));
  const isAsked = request.askedByClient && isDefaultQuestion(config.policy, found);
  const decided: PolicyDecision = isAsked ? { ...found, action: 'allow' } : found;
  const mustAsk = question !== undefined && decided.action !== 'deny';
  const decision = mustAsk ? { ...decided, action: 'require_approval' as const, reason: question } : decided;
  call.policy = decision;
  if (request.dryRun || decision.action === 'allow') return;
  const { session, signal, approval, trace } = request;
  return authorize(
    decision,
    { tool, metaTool: 'tool_execute', args: call.args as JsonObject, session, signal, approval, trace },
    approvals,
  );
};

/** Checks all limits before it counts the call. A dry run counts nothing. */
const quota: Stage = (call, { limiter }) => {
  const subject = quotaSubject(call);
  call.quota = call.request.dryRun ? limiter.evaluate(subject) : limiter.take(subject);
  if (!call.quota.allowed && !call.request.dryRun) throw rateLimited(call.tool.id, call.quota);
};

function quotaSubject<R>({ request, tool }: Call<R>): QuotaSubject {
  const { session, requestId, counted } = request;
  return { session, metaTool: 'tool_execute', toolId: tool.id, requestId, counted };
}

const dryRun: Stage = (call, parts) => {
  if (!call.request.dryRun) return;
  const { tool, upstream, args, repairs, request, policy: decision } = call;
  const { config, cache, history, limiter, approvals } = parts;
  const expected = history.expectation(tool.id);
  const remembered = decision?.action === 'require_approval' && approvals.isRemembered(tool, request.session);
  call.report = {
    dry_run: true,
    tool_id: tool.id,
    upstream_name: tool.upstreamName,
    args_valid: true,
    annotations: { ...tool.annotations, verified: false },
    checks: checksOf(call, remembered),
    args,
    arg_repairs: repairs,
    policy: decision ? { ...decision, ...(remembered ? { remembered } : {}) } : { action: 'none', rule_index: null },
    quota: limiter.left(quotaSubject(call)),
    server: {
      name: tool.server,
      state: upstream.state,
      ...(upstream.reason === undefined ? {} : { reason: upstream.reason }),
    },
    replay: replayTerms(call, config).contract,
    deadline_ms: 1_000 * overrideFor(settingsFor(config.timeouts, tool.server), tool),
    cache: !cache.admits(tool) ? 'off' : cache.has(cacheKey(tool.id, args)) ? 'hit' : 'miss',
    ...(expected === undefined ? {} : { expected }),
  };
};

function checksOf<R>(call: Call<R>, remembered: boolean): DryRunCheck[] {
  const { unchecked, quota: limits, policy: decision, egress: secrets = [] } = call;
  const checks: DryRunCheck[] = [
    unchecked === undefined
      ? { name: 'schema_validation', status: 'pass' }
      : { name: 'schema_validation', status: 'skipped', reason: unchecked },
    limits?.allowed === false
      ? { name: 'rate_limit', status: 'fail', reason: limits.scope }
      : { name: 'rate_limit', status: 'pass' },
  ];
  for (const { reason } of secrets) checks.push({ name: 'egress', status: 'AUTH_REQUIRED', reason });
  if (decision) {
    const reason = decision.reason === undefined ? {} : { reason: decision.reason };
    if (decision.action === 'allow' || remembered) checks.push({ name: 'policy', status: 'pass' });
    else if (decision.action === 'deny') checks.push({ name: 'policy', status: 'POLICY_DENIED', ...reason });
    else checks.push({ name: 'policy', status: 'AUTH_REQUIRED', ...reason });
  }
  return checks;
}

const lookUp: Stage = (call, { cache }) => {
  if (call.upstream.isPerSession || !cache.admits(call.tool)) return;
  call.cacheKey = cacheKey(call.tool.id, call.args);
  call.cacheGeneration = cache.generation;
  const hit = cache.get(call.cacheKey);
  if (hit === undefined) return;
  call.raw = hit;
  call.cacheHit = true;
};

const dispatch: Stage = async (call, parts, ports) => {
  if (call.raw) return;
  // An edit may have replaced the server while the user was asked.
  call.upstream = upstreamOf(call.tool, ports);
  const { tool, args, request, cacheKey: key } = call;
  const started = performance.now();
  const terms = termsFor(call, parts, ports);
  const { onProgress, origin, meta, begins } = request;
  const currentUpstream = (): Upstream => {
    // An edit may replace the server between two attempts.
    const upstream = ports.upstream(tool.server) ?? call.upstream;
    return beginsTask(call) && canRunTasks(upstream) ? asTask(upstream) : upstream;
  };
  let refusal: GatewayError | undefined;
  const onSend = () => {
    // The server may have been started for this call, and list the tool otherwise than before.
    refusal = ports.trust?.(tool).refusal;
    return refusal ? Promise.reject(refusal) : begins?.(terms.contract, tool.id);
  };
  const send = (end: Pick<ClientEnd, 'signal' | 'onSend'>) =>
    dispatchCall(tool, currentUpstream, args as JsonObject, { ...end, onProgress, origin, meta }, terms);
  try {
    if (key === undefined) call.attempts = await send({ signal: request.signal, onSend });
    else {
      const { value, joined } = await parts.shared.run(key, { signal: request.signal, onSend }, send);
      call.attempts = value;
      call.shared = joined;
    }
  } catch (error) {
    // A caller of a shared dispatch can cancel alone.
    throw refusal ?? dispatchError(error, { tool, ...terms });
  }
  call.raw = call.attempts.value;
  if (call.shared) return;
  parts.history.add(tool.id, { durationMs: performance.now() - started, bytes: resultBytes(call.raw) });
};

/** A repeated call would begin a second task, so the declared contract does not apply. */
function replayTerms<R>(call: Call<R>, config: PipelineParts['config']): Pick<DispatchTerms, 'contract' | 'probe'> {
  return beginsTask(call) ? { contract: 'never_replay' } : replayFor(config.replay, call.tool);
}

function beginsTask<R>({ tool, upstream }: Call<R>): boolean {
  return tool.requiresTask === true && canRunTasks(upstream);
}

function termsFor<R>(call: Call<R>, { config }: PipelineParts, ports: PipelinePorts<R>): DispatchTerms {
  return {
    retry: settingsFor(config.retry, call.tool.server),
    ...replayTerms(call, config),
    deadlineMs: 1_000 * overrideFor(settingsFor(config.timeouts, call.tool.server), call.tool),
    random: ports.random ?? Math.random,
    scrubSecrets: (text) => ports.scrubSecrets(text, call.tool.server),
    log: (line) => ports.log?.(line),
    onAttempt: (attempt) => void call.request.trace?.attempts.push(attempt),
  };
}

const firewall: Stage = async (call, _parts, ports) => {
  if (call.forwarded) return;
  const { tool, request, repairs, cacheHit, unchecked } = call;
  call.result = await ports.firewall(call.raw as JsonObject, {
    tool,
    session: request.session,
    provenance: {
      ...(repairs.length > 0 ? { arg_repairs: repairs } : {}),
      ...(cacheHit ? { cache_hit: true } : {}),
      ...(unchecked === undefined ? {} : { args_unchecked: unchecked }),
    },
  });
};

/** Stores the raw result for later hits. Errors and answers to an earlier catalog are not stored. */
const store: Stage = (call, { cache }) => {
  const { cacheKey: key, raw, cacheHit, shared } = call;
  if (key === undefined || raw === undefined || cacheHit || shared || raw.isError === true) return;
  cache.put(key, raw, call.cacheGeneration, call.tool.server);
};

/** The stages of a call, in order (G7.1). */
export const STAGES: readonly { name: string; run: Stage }[] = [
  { name: 'hydrate', run: hydrate },
  { name: 'repair', run: repair },
  { name: 'validate', run: validate },
  { name: 'trust', run: trust },
  { name: 'egress', run: egress },
  { name: 'policy', run: policy },
  { name: 'quota', run: quota },
  { name: 'dry run', run: dryRun },
  { name: 'cache', run: lookUp },
  { name: 'dispatch', run: dispatch },
  { name: 'firewall', run: firewall },
  { name: 'cache store', run: store },
];
