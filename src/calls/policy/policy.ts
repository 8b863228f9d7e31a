import { isDeepStrictEqual } from 'node:util';
import type { CatalogTool, ServerOrigin } from '../../catalog/types.ts';
import {
  DEFAULT_POLICY,
  type PolicyAction,
  type PolicyMetaTool,
  type PolicyRule,
  type ToolPolicy,
} from '../../config/declaration/policyBlock.ts';
import { globMatches } from '../../lib/glob.ts';
import { matchesLookAlike, skeleton } from '../../text/lookAlikes.ts';

/** Properties of a call that rules can name. */
export interface PolicySubject {
  metaTool: PolicyMetaTool;
  toolId?: string;
  namespace?: string;
  server?: string;
  origin?: ServerOrigin;
  /** The server's name for the tool. */
  toolName?: string;
  tags?: readonly string[];
  readOnly?: boolean;
}

export interface PolicyDecision {
  action: PolicyAction;
  /** Index of the rule that decided; `null` for the default. */
  rule_index: number | null;
  reason?: string;
  /** Why the policy cannot be read, if that decided. */
  unreadable?: string;
}

/**
 * Decides by the first rule that fits. Rules of the user's own file trust no server of a workspace unless they name that
 * origin: one that allows is passed over, and one that asks cannot be softened by a later rule. The same holds for a rule
 * that fits a look-alike of what it names.
 */
export function decide(policy: ToolPolicy, subject: PolicySubject): PolicyDecision {
  let asks: PolicyDecision | undefined;
  for (const [index, rule] of policy.rules.entries()) {
    const isNamed = applies(rule, subject);
    // A server must not escape a rule that forbids or asks by another spelling.
    if (!isNamed && (rule.action === 'allow' || !applies(rule, subject, true))) continue;
    const decision = decisionOf(rule, index);
    const isOther = subject.origin === 'workspace' && rule.by !== 'workspace' && rule.origin !== 'workspace';
    if (isOther && rule.action === 'allow') continue;
    if ((isOther || !isNamed) && rule.action === 'require_approval') asks ??= decision;
    else return rule.action === 'deny' ? decision : (asks ?? decision);
  }
  return policy.default === 'deny'
    ? { action: 'deny', rule_index: null }
    : (asks ?? { action: policy.default, rule_index: null });
}

/**
 * Decides about a secret that would be sent to a server. Only rules that name `egress` count, and those of a
 * workspace only if they are as strict as `otherwise`, the action without a rule.
 */
export function decideEgress(policy: ToolPolicy, tool: PolicyTool, otherwise: PolicyAction): PolicyDecision {
  const rules = policy.rules.filter(
    ({ metaTool, by, action }) =>
      metaTool === 'egress' && (by !== 'workspace' || action === 'deny' || action === otherwise),
  );
  return decide({ default: otherwise, rules }, subjectOf(tool, 'egress'));
}

/** Decides about an unknown subject by the strictest rule that could apply to it, the default included. */
export function decideStrictly(policy: ToolPolicy, metaTool: PolicyMetaTool): PolicyDecision {
  const possible = policy.rules
    .map((rule, index) => ({ rule, index }))
    .filter(({ rule }) => rule.metaTool === undefined || rule.metaTool === metaTool);
  for (const strictest of ['deny', 'require_approval'] as const) {
    const found = possible.find(({ rule }) => rule.action === strictest);
    if (found) return decisionOf(found.rule, found.index);
    if (policy.default === strictest) break;
  }
  return { action: policy.default, rule_index: null };
}

/**
 * Whether a decision is Waygate's own question about destructive tools, and no rule that somebody wrote. `waygate allow`
 * copies the question into the file, behind its rule.
 */
export function isDefaultQuestion(policy: ToolPolicy, { rule_index: index }: PolicyDecision): boolean {
  return index !== null && DEFAULT_POLICY.rules.some((rule) => isDeepStrictEqual(rule, policy.rules[index]));
}

function decisionOf({ action, reason, unreadable }: PolicyRule, index: number): PolicyDecision {
  return {
    action,
    rule_index: index,
    ...(reason === undefined ? {} : { reason }),
    ...(unreadable === undefined ? {} : { unreadable }),
  };
}

/** Facts about a tool that rules can name. */
export type PolicyTool = Pick<
  CatalogTool,
  'id' | 'namespace' | 'server' | 'origin' | 'upstreamName' | 'tags' | 'safety'
>;

export function subjectOf(tool: PolicyTool, metaTool: PolicyMetaTool): PolicySubject {
  return {
    metaTool,
    toolId: tool.id,
    namespace: tool.namespace,
    server: tool.server,
    ...(tool.origin !== undefined && { origin: tool.origin }),
    toolName: tool.upstreamName,
    tags: tool.tags,
    readOnly: tool.safety === 'read_only',
  };
}

function applies(rule: PolicyRule, subject: PolicySubject, orAlike = false): boolean {
  if (rule.metaTool !== undefined && rule.metaTool !== subject.metaTool) return false;
  const isSame = (named: string, name = ''): boolean =>
    named === name || (orAlike && skeleton(named) === skeleton(name));
  if (rule.origin !== undefined && rule.origin !== (subject.origin ?? 'user')) return false;
  if (rule.namespace !== undefined && !isSame(rule.namespace, subject.namespace)) return false;
  if (rule.server !== undefined && !isSame(rule.server, subject.server)) return false;
  if (rule.readOnly !== undefined && rule.readOnly !== (subject.readOnly ?? false)) return false;
  if (rule.tags?.some((tag) => !subject.tags?.includes(tag))) return false;
  if (rule.tool === undefined) return true;
  const glob = rule.tool;
  return [subject.toolId, subject.toolName].some(
    (name) => name !== undefined && (orAlike ? matchesLookAlike(glob, name) : globMatches(glob, name)),
  );
}
