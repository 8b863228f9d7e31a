import type { CatalogTool } from '../../catalog/types.ts';
import { globMatches } from '../../lib/glob.ts';
import { dotted, type JsonPath } from '../json.ts';
import { DispatchConfigError } from '../settings/configError.ts';
import { ConfigBlock } from '../settings/configReader.ts';

/** What may be called: the person's own rules, first match wins. */
export type PolicyAction = 'allow' | 'deny' | 'require_approval';
export type PolicyMetaTool = 'tool_execute' | 'tool_view';

export interface PolicyRule {
  action: PolicyAction;
  meta_tool?: PolicyMetaTool;
  namespace?: string;
  /** Name of the server in the configuration. */
  server?: string;
  /** A glob over the `tool_id`, or over the name by which the server knows the tool. */
  tool?: string;
  /** All of them. */
  tags?: readonly string[];
  read_only?: boolean;
  reason?: string;
}

export interface ToolPolicy {
  default: PolicyAction;
  rules: readonly PolicyRule[];
}

/** What a decision is made on. */
export interface PolicySubject {
  meta_tool: PolicyMetaTool;
  tool_id?: string;
  namespace?: string;
  server?: string;
  /** The raw name. */
  tool_name?: string;
  tags?: readonly string[];
  read_only?: boolean;
}

export interface PolicyDecision {
  action: PolicyAction;
  /** None: the default decided. */
  rule_index: number | null;
  reason?: string;
}

const ACTIONS: readonly PolicyAction[] = ['allow', 'deny', 'require_approval'];
const META_TOOLS: readonly PolicyMetaTool[] = ['tool_execute', 'tool_view'];

/** Where nothing is configured: a person is asked before a tool that says of itself that it destroys. */
export const DEFAULT_POLICY: ToolPolicy = {
  default: 'allow',
  rules: [
    {
      action: 'require_approval',
      meta_tool: 'tool_execute',
      tags: ['destructive'],
      reason: 'Its server declares it destructive.',
    },
  ],
};

export function decide(policy: ToolPolicy, subject: PolicySubject): PolicyDecision {
  const index = policy.rules.findIndex((rule) => applies(rule, subject));
  const rule = policy.rules[index];
  if (!rule) return { action: policy.default, rule_index: null };
  return { action: rule.action, rule_index: index, ...(rule.reason === undefined ? {} : { reason: rule.reason }) };
}

export function subjectOf(tool: CatalogTool, metaTool: PolicyMetaTool): PolicySubject {
  return {
    meta_tool: metaTool,
    tool_id: tool.id,
    namespace: tool.namespace,
    server: tool.server,
    tool_name: tool.upstreamName,
    tags: tool.tags,
    read_only: tool.safety === 'read_only',
  };
}

function applies(rule: PolicyRule, subject: PolicySubject): boolean {
  if (rule.meta_tool !== undefined && rule.meta_tool !== subject.meta_tool) return false;
  if (rule.namespace !== undefined && rule.namespace !== subject.namespace) return false;
  if (rule.server !== undefined && rule.server !== subject.server) return false;
  if (rule.read_only !== undefined && rule.read_only !== (subject.read_only ?? false)) return false;
  if (rule.tags?.some((tag) => !subject.tags?.includes(tag))) return false;
  if (rule.tool === undefined) return true;
  const glob = rule.tool;
  return [subject.tool_id, subject.tool_name].some((name) => name !== undefined && globMatches(glob, name));
}

/** The `policy` block. */
export function readPolicy(value: unknown, path: JsonPath = ['policy']): ToolPolicy {
  const block = new ConfigBlock(value, path, ['default', 'rules']);
  const rules = block.get('rules') ?? [];
  const list = Array.isArray(rules) ? rules : emptyList(rules, [...path, 'rules']);
  return {
    default: block.choice('default', ACTIONS) ?? 'allow',
    rules: list.map((rule, index) => readRule(rule, [...path, 'rules', index])),
  };
}

function readRule(value: unknown, path: JsonPath): PolicyRule {
  const keys = ['action', 'meta_tool', 'namespace', 'server', 'tool', 'tags', 'read_only', 'reason'];
  const block = new ConfigBlock(value, path, keys);
  const action = block.choice('action', ACTIONS);
  if (action === undefined) {
    throw new DispatchConfigError(`"${dotted(path)}" needs an "action": ${ACTIONS.join(', ')}.`, path);
  }
  const fields = {
    meta_tool: block.choice('meta_tool', META_TOOLS),
    namespace: block.text('namespace'),
    server: block.text('server'),
    tool: block.text('tool'),
    tags: block.texts('tags'),
    read_only: block.get('read_only') === undefined ? undefined : block.flag('read_only', false),
    reason: block.text('reason'),
  };
  const given = Object.entries(fields).filter(([, field]) => field !== undefined);
  return { action, ...Object.fromEntries(given) };
}

/** An empty object stands for no rules; anything else that is no list is a mistake. */
function emptyList(value: unknown, path: JsonPath): never[] {
  if (typeof value === 'object' && value !== null && Object.keys(value).length === 0) return [];
  throw new DispatchConfigError(`"${dotted(path)}" must be a list of rules.`, path);
}
