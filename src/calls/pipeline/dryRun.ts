import type { PolicyAction } from '../../config/declaration/policyBlock.ts';
import type { ReplayContract } from '../../replay/replay.ts';
import { count, groupDigits, oneLine, shortened } from '../../text/porcelain.ts';
import { visibleJson } from '../../text/visibleText.ts';
import type { QuotaLeft } from '../policy/quota.ts';
import type { ArgRepair } from '../validation/argRepairs.ts';
import type { Expectation } from './callHistory.ts';

/** Report of a dry run: what would happen, with nothing sent (G7.6). */
export interface DryRunReport {
  dry_run: true;
  tool_id: string;
  upstream_name: string;
  args_valid: boolean;
  /** Annotations as the server declares them, unverified. */
  annotations: Record<string, unknown>;
  checks: DryRunCheck[];
  /** Arguments as they would be sent. */
  args: unknown;
  arg_repairs: readonly ArgRepair[];
  /** `remembered`: an earlier approval would let the call through. */
  policy: { action: PolicyAction | 'none'; rule_index: number | null; reason?: string; remembered?: boolean };
  quota: readonly QuotaLeft[];
  server: { name: string; state: string; reason?: string };
  replay: ReplayContract;
  deadline_ms: number;
  cache: 'off' | 'hit' | 'miss';
  /** Estimate from earlier calls; absent if there are none. */
  expected?: Expectation;
}

export interface DryRunCheck {
  name: 'schema_validation' | 'rate_limit' | 'egress' | 'policy';
  /** A failed policy has the code of its error. */
  status: 'pass' | 'fail' | 'skipped' | 'POLICY_DENIED' | 'AUTH_REQUIRED';
  reason?: string;
}

const MAX_ARGS_CHARS = 1_000;

/** Renders the report for a model. */
export function dryRunText(report: DryRunReport): string {
  const failed = report.checks.filter((check) => check.status !== 'pass' && check.status !== 'skipped');
  const verdict = failed.length === 0 ? 'would be sent' : 'would not be sent';
  const lines = [`Dry run of ${report.tool_id}: nothing was called, and the call ${verdict}.`];
  for (const { name, status, reason } of report.checks) {
    lines.push(`${name}: ${status}${reason === undefined ? '' : ` (${oneLine(reason)})`}`);
  }
  lines.push(`arguments: ${shortened(visibleJson(report.args), MAX_ARGS_CHARS)}`);
  for (const { path, rule } of report.arg_repairs) lines.push(`repaired: ${oneLine(path)} by ${rule}`);
  if (report.policy.remembered) lines.push('approval: given before');
  for (const { scope, limit, left } of report.quota) lines.push(`quota: ${left} of ${limit} left (${scope})`);
  const { name, state, reason } = report.server;
  lines.push(`server: ${name} is ${state}${reason === undefined ? '' : `: ${oneLine(reason)}`}`);
  const replay = report.replay === 'convergent' ? 'a lost call is repeated' : 'a lost call is never repeated';
  lines.push(`replay: ${report.replay}: ${replay}; timeout after ${report.deadline_ms / 1_000} s`);
  if (report.cache !== 'off') lines.push(`cache: ${report.cache}`);
  lines.push(expectation(report.expected));
  return lines.join('\n');
}

function expectation(expected: Expectation | undefined): string {
  if (!expected) return 'expected: unknown, no earlier calls';
  const { calls, duration_ms: time, result_bytes: size } = expected;
  const [usual, most] = [groupDigits(size.median), groupDigits(size.max)];
  return `expected: about ${groupDigits(time.median)} ms (at most ${groupDigits(time.max)}) and ${usual} bytes (at most ${most}), from ${count(calls, 'earlier call')}`;
}
