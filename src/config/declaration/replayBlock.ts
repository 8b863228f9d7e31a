import { type BlockValue, block, ownEntries, type Scope, type ToolGlobs } from './block.ts';
import { anyObject, list, object, record } from './collections.ts';
import { type Infer, oneOf, scalar, text } from './field.ts';

const CONTRACTS = ['convergent', 'probe_required', 'never_replay'] as const;
const contract = oneOf(CONTRACTS, {});

const probe = object(
  {
    tool: text({ required: true, filled: true, doc: 'A tool of the same server that only reads.' }),
    arguments: anyObject({
      default: {},
      doc: 'Its arguments. `{"$arg": "/pointer"}` refers to a value of the lost call.',
    }),
    effect: object(
      {
        at: text({ required: true, filled: true, doc: 'A JSON pointer.' }),
        equals: scalar({ doc: 'The value after the effect. Without it, any value but null or false will do.' }),
      },
      { required: true, doc: "The place in the probe's structured content that shows the effect." },
    ),
  },
  {},
);

const REPLAY_KEYS = {
  default: oneOf(CONTRACTS, { default: 'never_replay', doc: 'For every tool without a closer setting.' }),
  servers: record(contract, { default: {}, refersTo: 'server', doc: 'By the names of servers.' }),
  tools: record(contract, { default: {}, doc: "By globs over the tool's id or its own name. The first match counts." }),
  trustHints: list(text({ refersTo: 'server' }), {
    default: [],
    doc: 'Servers whose `readOnlyHint` and `idempotentHint` you believe: such tools are `convergent`.',
  }),
  probes: record(probe, {
    default: {},
    doc: 'For tools that are `probe_required`, by globs: how to find out whether a lost call took effect.',
  }),
};

const replay = object(REPLAY_KEYS, {
  doc: 'Treatment of a call that was lost: `convergent` may run again, anything else is reported as unknown. A workspace cannot loosen what your own waygate.json says, nor anything for the servers in it. Names and globs in your own file do not loosen anything for servers of a workspace.',
});

export interface ReplaySettings extends Infer<typeof replay>, ToolGlobs {
  /** The user's own settings, which a workspace may tighten but not loosen: for the named servers, or for all. */
  readonly floor?: { readonly settings: Infer<typeof replay> & ToolGlobs; readonly servers?: readonly string[] };
}

/** Default settings: a server's declaration makes nothing repeatable, only the user's configuration does. */
export const NOTHING_REPEATED: ReplaySettings = {
  default: 'never_replay',
  servers: {},
  tools: {},
  trustHints: [],
  probes: {},
};

export const REPLAY = block<ReplaySettings>(replay, {
  defaultValue: NOTHING_REPEATED,
  safety: { strictest: () => NOTHING_REPEATED, untilThen: 'no lost call is repeated' },
  narrow: (own, scope) => ({
    ...own,
    toolsOf: 'user',
    servers: ownEntries('replay', own.servers, scope, (contract) => contract === 'never_replay'),
    trustHints: own.trustHints.filter((name) => scope.userServers.includes(name)),
  }),
  combine: (
    own: BlockValue<ReplaySettings> | undefined,
    { value }: BlockValue<ReplaySettings>,
    { userServers }: Scope,
  ) => ({
    ...value,
    floor: own ? { settings: own.value } : { settings: NOTHING_REPEATED, servers: userServers },
  }),
});
