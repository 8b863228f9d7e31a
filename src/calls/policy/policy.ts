import type { CatalogTool } from '../../catalog/types.ts';
import {
  type PolicyAction,
  type PolicyMetaTool,
  type PolicyRule,
  STRICTNESS,
  type ToolPolicy,
} from '../../config/declaration/policyBlock.ts';
import { globMatches } from '../../lib/glob.ts';

/** Properties of a call that rules can name. */
export interface PolicySubject {
  metaTool: PolicyMetaTool;
  toolId?: string;
  namespace?: string;
  server?: string;
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

export function decide(policy: ToolPolicy, subject: PolicySubject): PolicyDecision {
  const index = policy.rules.findIndex((rule) => applies(rule, subject));
  return decisionOf(policy, index);
}

/** Decides about an unknown subject by the strictest rule that could apply to it, the default included. */
export function decideStrictly(policy: ToolPolicy, metaTool: PolicyMetaTool): PolicyDecision {
  const possible = policy.rules
    .map((rule, index) => ({ ...rule, index }))
    .filter((rule) => rule.metaTool === undefined || rule.metaTool === metaTool);
  const strictest = Math.max(STRICTNESS[policy.default], ...possible.map(({ action }) => STRICTNESS[action]));
  return decisionOf(policy, possible.find(({ action }) => STRICTNESS[action] === strictest)?.index ?? -1);
}

function decisionOf(policy: ToolPolicy, index: number): PolicyDecision {
  const rule = policy.rules[index];
  if (!rule) return { action: policy.default, rule_index: null };
  const { action, reason, unreadable } = rule;
  return {
    action,
    rule_index: index,
    ...(reason === undefined ? {} : { reason }),
    ...(unreadable === undefined ? {} : { unreadable }),
  };
}

export function subjectOf(tool: CatalogTool, metaTool: PolicyMetaTool): PolicySubject {
  return {
    metaTool,
    toolId: tool.id,
    namespace: tool.namespace,
    server: tool.server,
    toolName: tool.upstreamName,
    tags: tool.tags,
    readOnly: tool.safety === 'read_only',
  };
}

function applies(rule: PolicyRule, subject: PolicySubject): boolean {
  if (rule.metaTool !== undefined && rule.metaTool !== subject.metaTool) return false;
  if (rule.namespace !== undefined && rule.namespace !== subject.namespace) return false;
  if (rule.server !== undefined && rule.server !== subject.server) return false;
  if (rule.readOnly !== undefined && rule.readOnly !== (subject.readOnly ?? false)) return false;
  if (rule.tags?.some((tag) => !subject.tags?.includes(tag))) return false;
  if (rule.tool === undefined) return true;
  const glob = rule.tool;
  return [subject.toolId, subject.toolName].some((name) => name !== undefined && globMatches(glob, name));
}
