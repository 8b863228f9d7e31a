import { didYouMean } from '../../text/nearest.ts';
import { type BlockValue, block, type Scope } from './block.ts';
import { list, object } from './collections.ts';
import { flag, type Infer, oneOf, text } from './field.ts';

const ACTIONS = ['allow', 'deny', 'require_approval'] as const;

/** Tags that the catalog gives to tools, resources and prompts. */
export const TAGS = ['destructive', 'mcp', 'prompt', 'read-only', 'resource', 'template'] as const;
/** Tag of a resource by its media type: `text_plain`. */
const MEDIA_TAG = /^(application|audio|font|image|message|model|multipart|text|video|x-[a-z-]+)_./;

/** A rule with an unknown tag would never fit, and so deny nothing. */
const tag = text({
  schema: { anyOf: [{ enum: TAGS }, { pattern: MEDIA_TAG.source }] },
  check: (value) =>
    TAGS.some((known) => known === value) || MEDIA_TAG.test(value)
      ? undefined
      : `a known tag; ${didYouMean(value, TAGS)}`,
  known: TAGS,
});

const rule = object(
  {
    action: oneOf(ACTIONS, { required: true, doc: 'Whether such a call is allowed, denied, or asked about.' }),
    server: text({ filled: true, refersTo: 'server', doc: 'The name of a server in `servers`.' }),
    origin: oneOf(['user', 'workspace'], {
      doc: 'Whose file configures the server: `user` (your own file, or the one of `--config`), or `workspace`. A rule of your own file that allows counts for a server of a workspace only with `"workspace"` here.',
    }),
    namespace: text({
      filled: true,
      refersTo: 'namespace',
      doc: 'The namespace of the tool: the first part of its path.',
    }),
    tool: text({ filled: true, doc: "A glob over the tool's id or its own name." }),
    tags: list(tag, {
      doc: 'The tool has all of these: `read-only`, `destructive`; for resources and prompts also `resource`, `template`, `prompt`, or the media type as in `text_plain`.',
    }),
    readOnly: flag({ doc: 'The read-only hint that the server declares. Do not rely on it.' }),
    metaTool: oneOf(['tool_execute', 'tool_view', 'egress'], {
      doc: 'The call of a tool (`tool_execute`), another look at its result (`tool_view`), or a secret that would be sent to its server (`egress`, see `trust.egress`). Only rules that name `egress` decide about secrets.',
    }),
    reason: text({ filled: true, doc: 'Shown when the call is denied or asked about.' }),
  },
  {},
);

const policy = object(
  {
    default: oneOf(ACTIONS, { default: 'allow', doc: 'Action for a call that no rule fits.' }),
    rules: list(rule, {
      lenient: true,
      default: [],
      doc: 'The first rule that fits a call decides. A rule fits if everything that it names fits.',
    }),
  },
  {
    doc: 'Which calls are allowed, denied, or asked about. The first rule that fits counts. Without a policy, Waygate asks about tools that are declared destructive. The rules of your own waygate.json come before those of a workspace, and a workspace cannot loosen its `default`.',
  },
);

export type PolicyAction = Infer<typeof rule>['action'];
export type PolicyMetaTool = NonNullable<Infer<typeof rule>['metaTool']>;
export interface PolicyRule extends Infer<typeof rule> {
  /** Why a policy cannot be read. A rule with this key denies every call. */
  readonly unreadable?: string;
  /** Set for a rule of a workspace's file. */
  readonly by?: 'workspace';
}
export interface ToolPolicy extends Infer<typeof policy> {
  readonly rules: readonly PolicyRule[];
}

/** Policy if no file has one: Waygate asks before a call of a tool that declares itself destructive. */
export const DEFAULT_POLICY: ToolPolicy = {
  default: 'allow',
  rules: [
    {
      action: 'require_approval',
      metaTool: 'tool_execute',
      tags: ['destructive'],
      reason: 'Its server declares it destructive.',
    },
  ],
};

export const POLICY = block<ToolPolicy>(policy, {
  defaultValue: DEFAULT_POLICY,
  safety: {
    strictest: (unreadable) => ({ default: 'deny', rules: [{ action: 'deny', unreadable }] }),
    untilThen: 'every call that no readable rule decides before is denied',
  },
  combine: addRules,
});

const STRICTNESS: Readonly<Record<PolicyAction, number>> = { allow: 0, require_approval: 1, deny: 2 };

/** Puts a workspace's rules after the user's own, without those that would loosen the user's default. */
function addRules(
  own: BlockValue<ToolPolicy> | undefined,
  { value }: BlockValue<ToolPolicy>,
  scope: Scope,
): ToolPolicy {
  const theirs = { ...value, rules: value.rules.map((one) => ({ ...one, by: 'workspace' as const })) };
  if (!own) return { ...theirs, rules: guarded(theirs.rules, scope.userServers) };
  const floor = own.value.default;
  const isWeaker = (one: PolicyAction): boolean => STRICTNESS[one] < STRICTNESS[floor];
  for (const [index, { action }] of theirs.rules.entries()) {
    if (!isWeaker(action)) continue;
    const why = `your own waygate.json has the default "${floor}", and a workspace cannot loosen it`;
    scope.ignored(['rules', index], `"policy.rules[${index}]" has no effect: ${why}.`);
  }
  return {
    default: isWeaker(theirs.default) ? floor : theirs.default,
    rules: [...own.value.rules, ...theirs.rules.filter(({ action }) => !isWeaker(action))],
  };
}

/** Adds the default policy for the user's own servers before the first rule that allows. */
function guarded(rules: readonly PolicyRule[], servers: readonly string[]): PolicyRule[] {
  const first = rules.findIndex(({ action }) => action === 'allow');
  const at = first === -1 ? rules.length : first;
  const guard = servers.flatMap((server) => DEFAULT_POLICY.rules.map((one) => ({ ...one, server })));
  return [...rules.slice(0, at), ...guard, ...rules.slice(at)];
}
