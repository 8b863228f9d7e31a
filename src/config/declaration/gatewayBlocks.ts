import { DEFAULT_MODE, MODES, type Mode, workspaceMode } from '../../link/mode.ts';
import { visibleJson } from '../../text/visibleText.ts';
import { SECRET_NAME } from '../secretReferences.ts';
import { type Block, type BlockValue, block, keepOwn, type Scope } from './block.ts';
import { defaultsOf, list, object } from './collections.ts';
import { flag, type Infer, number, oneOf, text } from './field.ts';

/** Value that the user enters, in the form of VS Code's mcp.json. */
const INPUT = object(
  {
    id: text({
      required: true,
      form: { pattern: SECRET_NAME, description: 'made of letters, digits, "_", "." and "-"' },
      doc: 'The name after `input:` where the value is used.',
    }),
    type: oneOf(['promptString', 'pickString'], {
      required: true,
      doc: '`promptString` is typed in, `pickString` is one of `options`.',
    }),
    description: text({ default: '', doc: 'The question that the user sees.' }),
    default: text({ doc: 'Value until the user sets one. Passwords have none.' }),
    password: flag({ default: false, doc: 'Whether the value is a secret.' }),
    options: list(text({}), { default: [], doc: 'Values to pick from.' }),
  },
  {
    schema: {
      if: { properties: { type: { const: 'pickString' } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['options'], properties: { options: { type: 'array', minItems: 1 } } },
    },
    check: ({ id, type, options }) =>
      type === 'pickString' && options.length === 0
        ? `The input "${id}" needs "options" to pick from; add them.`
        : undefined,
  },
);

export type InputConfig = Infer<typeof INPUT>;

export const INPUTS = list(INPUT, {
  doc: "Values that the user is asked for, in the form of VS Code's `mcp.json`. `${input:id}` refers to one. The editor asks for its value.",
});

/** Values of `asks`, the strictest first. */
const ASKERS = ['waygate', 'auto', 'client'] as const;

const PASSTHROUGH = {
  asks: oneOf(ASKERS, {
    default: 'auto',
    doc: 'Who asks before a tool that is declared destructive runs, unless `policy` says otherwise: `client`, which shows the tool itself; `waygate`; or the client if it is known to ask (`auto`): VS Code, Claude, Cursor, Zed, Cline, Roo Code, Gemini CLI. A workspace cannot choose a laxer value than your own waygate.json.',
  }),
  firewall: flag({
    default: false,
    doc: 'Long results become digests with handles for `tool_view`, as in the other modes. A workspace cannot switch it off if your own waygate.json switches it on.',
  }),
};
const passthrough = object(PASSTHROUGH, { doc: 'Treatment of calls and results in the mode `passthrough`.' });
type Passthrough = Infer<typeof passthrough>;

const STARTUP = {
  mode: oneOf(['degraded', 'strict'], {
    default: 'degraded',
    doc: '`strict`: every server that is `required` must be up. `degraded`: `minHealthyServers` servers are enough.',
  }),
  timeoutSeconds: number({
    above: 0,
    max: 3_600,
    lenient: true,
    // npx may have to download a server first, and only the server's own tools wait for its start.
    default: 60,
    doc: 'Time limit of the first start of a server. A workspace cannot shorten it if you have servers of your own: `npx` may have to download it. Later starts have 15 s, or four times the slowest start so far, within this limit. Health reports a start that takes longer than 15 s.',
  }),
  minHealthyServers: number({
    whole: true,
    min: 0,
    max: 10_000,
    lenient: true,
    default: 0,
    doc: 'Number of servers that must be up in the mode `degraded`.',
  }),
  failOnEmptyCatalog: flag({
    lenient: true,
    default: false,
    doc: 'Whether a catalog without a tool counts as a failed start.',
  }),
};

const startup = object(STARTUP, {
  doc: 'Conditions for the first answer of the gateway. Without this block it answers with whatever servers are up. Those of a workspace have no effect if you have servers of your own, except a longer time limit.',
});
type Startup = Infer<typeof startup>;

const LIVE_REFRESH = {
  enabled: flag({
    default: true,
    doc: 'Whether to list the tools again. If not, Waygate lists them when the server starts and when you refresh.',
  }),
  debounceSeconds: number({
    min: 0,
    max: 3_600,
    default: 0.2,
    doc: 'Wait for further announcements before the tools are listed again.',
  }),
  maxRefreshesPerMinute: number({
    whole: true,
    min: 1,
    max: 6_000,
    default: 60,
    doc: 'Limit of listings per server and minute.',
  }),
};

const ACTIVITY = {
  keepArguments: flag({
    default: true,
    doc: 'Whether the gateway keeps the arguments and answers of the last 200 calls for the editor, in memory only, with secrets masked.',
  }),
};

const activity = object(ACTIVITY, {
  doc: 'What the editor shows of the calls. Nothing of it is written to a file. A workspace cannot switch on what your own waygate.json switches off.',
});

const BROWSE = {
  topK: number({
    whole: true,
    min: 1,
    max: 50,
    default: 10,
    doc: 'Number of cards that answer a query without a number of its own (1 to 50).',
  }),
  cacheStable: flag({
    default: false,
    doc: 'Puts cards that were shown before first and unchanged, for clients that cache prompts. Read the rank from `score` then.',
  }),
  learning: flag({
    default: true,
    doc: "Ranks a tool a little higher for queries after which it was executed. Kept in this workspace's state alone; `waygate learned` shows and erases it.",
  }),
};

const ARTIFACTS = {
  shownChars: number({
    whole: true,
    min: 200,
    max: 7_000,
    lenient: true,
    default: 4_000,
    doc: 'A result of at most this many characters is shown whole. A longer one becomes a digest with a handle.',
  }),
  maskSecrets: oneOf(['errors', 'always', 'never'], {
    default: 'errors',
    doc: "Where secrets are masked in what a model reads of a server's results: in errors, in all results (`tool_view` included), or nowhere. A secret is a value that looks like one, or one that a server was given. A workspace cannot loosen what your own waygate.json says, nor unmask the errors of servers in it.",
  }),
  maskOnDisk: flag({
    lenient: true,
    default: false,
    doc: 'Whether secrets are masked in kept results too. A workspace cannot switch it off if your own waygate.json switches it on.',
  }),
  ttlSeconds: number({
    whole: true,
    min: 1,
    max: 366 * 86_400,
    lenient: true,
    default: 7 * 86_400,
    doc: 'How long a result is kept. Like the other bounds, it takes effect when the gateway starts next.',
  }),
  maxBytes: number({
    whole: true,
    min: 1,
    max: 2 ** 40,
    lenient: true,
    default: 512 * 1024 * 1024,
    doc: 'Size of all kept results together. The oldest are dropped first.',
  }),
  maxArtifacts: number({
    whole: true,
    min: 1,
    max: 1_000_000,
    lenient: true,
    default: 5_000,
    doc: 'Number of kept results.',
  }),
};

const artifacts = object(ARTIFACTS, {
  doc: 'Results that are kept, and how much of them a model sees. A workspace cannot lower the bounds of kept results if you have servers of your own.',
});
type Artifacts = Infer<typeof artifacts>;

const MASKING: Readonly<Record<Artifacts['maskSecrets'], number>> = { never: 0, errors: 1, always: 2 };

/** Keeps a mask that the user's own file sets, and the masked errors and kept results of the user's own servers. */
function keepMasks(own: BlockValue<Artifacts> | undefined, theirs: BlockValue<Artifacts>, scope: Scope): Artifacts {
  const { maskSecrets = scope.userServers.length > 0 ? 'errors' : 'never', maskOnDisk = false } = setBy(own);
  const kept: Partial<Artifacts> = {
    ...(MASKING[theirs.value.maskSecrets] < MASKING[maskSecrets] && { maskSecrets }),
    ...(maskOnDisk && !theirs.value.maskOnDisk && { maskOnDisk }),
  };
  for (const [key, value] of Object.entries(kept)) {
    if (!theirs.keys.has(key)) continue;
    const why = own?.keys.has(key) ? ownSetting(value) : 'the errors of your own servers stay masked';
    scope.ignored([key], `"artifacts.${key}" has no effect: ${why}.`);
  }
  const floor = { ...defaultsOf(ARTIFACTS), ...own?.value };
  const bounds = Object.fromEntries(
    BOUNDS.map((key) => [key, keepAtLeast(`artifacts.${key}`, floor, theirs, key, scope)]),
  );
  return { ...theirs.value, ...kept, ...bounds };
}

const BOUNDS = ['ttlSeconds', 'maxBytes', 'maxArtifacts'] as const;

/** Returns the keys that a file sets itself. */
function setBy<T extends object>(own: BlockValue<T> | undefined): Partial<T> {
  const set = Object.entries(own?.value ?? {}).filter(([key]) => own?.keys.has(key));
  return Object.fromEntries(set) as Partial<T>;
}

const ownSetting = (value: unknown): string => `your own waygate.json sets ${visibleJson(value)}, which is stricter`;

/** Keeps results within the user's mode, and the digests of long ones. */
function keepMode(own: BlockValue<Mode> | undefined, { value }: BlockValue<Mode>, scope: Scope): Mode {
  const mode = workspaceMode(own?.value, value);
  if (mode !== value) scope.ignored([], `"mode" has no effect: ${ownSetting(mode)}.`);
  return mode;
}

function keepStricter(own: BlockValue<Passthrough> | undefined, theirs: BlockValue<Passthrough>, scope: Scope) {
  const { firewall, asks } = own?.value ?? defaultsOf(PASSTHROUGH);
  const isLaxer = ASKERS.indexOf(theirs.value.asks) > ASKERS.indexOf(asks);
  const losesDigests = firewall && !theirs.value.firewall;
  if (isLaxer && theirs.keys.has('asks'))
    scope.ignored(['asks'], `"passthrough.asks" has no effect: ${ownSetting(asks)}.`);
  if (losesDigests && theirs.keys.has('firewall'))
    scope.ignored(['firewall'], `"passthrough.firewall" has no effect: ${ownSetting(true)}.`);
  return { asks: isLaxer ? asks : theirs.value.asks, firewall: firewall || theirs.value.firewall };
}

/**
 * Keeps the user's conditions for the first answer, and the time in which the user's own servers start: a repository must
 * not make them unavailable.
 */
function keepStartup(own: BlockValue<Startup> | undefined, theirs: BlockValue<Startup>, scope: Scope): Startup {
  if (scope.userServers.length === 0) return theirs.value;
  const kept = own?.value ?? defaultsOf(STARTUP);
  for (const key of theirs.keys) {
    if (key !== 'timeoutSeconds')
      scope.ignored([key], `"startup.${key}" has no effect: it would concern your own servers, too.`);
  }
  return { ...kept, timeoutSeconds: keepAtLeast('startup.timeoutSeconds', kept, theirs, 'timeoutSeconds', scope, 's') };
}

/** Returns the larger of two bounds, since a small one of a workspace would degrade the user's own servers. */
function keepAtLeast<K extends string>(
  name: string,
  kept: Record<K, number>,
  { value, keys }: BlockValue<Record<K, number>>,
  key: K,
  { userServers, ignored }: Scope,
  unit = '',
): number {
  if (userServers.length === 0 || value[key] >= kept[key]) return value[key];
  if (keys.has(key)) ignored([key], `"${name}" has no effect: your own servers have ${`${kept[key]} ${unit}`.trim()}.`);
  return kept[key];
}

/** Keeps the user's own servers running as long as the user's file says. */
function keepIdleTime(own: BlockValue<number> | undefined, { value }: BlockValue<number>, scope: Scope): number {
  const kept = own?.value ?? IDLE_MINUTES;
  if (scope.userServers.length === 0 || value >= kept) return value;
  scope.ignored([], `"idleMinutes" has no effect: your own servers have ${kept} min.`);
  return kept;
}

const IDLE_MINUTES = 10;

/** Blocks that the gateway itself reads. */
export const GATEWAY_BLOCKS = {
  mode: block(
    oneOf(MODES, {
      default: DEFAULT_MODE,
      doc: "How clients see the servers: `gateway`, three tools that find, run and read; `transparent`, every tool listed without its arguments, which `tool_hydrate` shows; `passthrough`, the servers' tools, resources and prompts as they are (with the server's name as a prefix if there are several servers). A session keeps the mode that it began with. `waygate serve --mode` decides for one client. A workspace cannot choose `passthrough` if your own waygate.json sets another mode.",
    }),
    { combine: keepMode },
  ),
  passthrough: block<Passthrough>(passthrough, { defaultValue: defaultsOf(PASSTHROUGH), combine: keepStricter }),
  primitives: block(
    oneOf(['auto', 'tools', 'off'], {
      default: 'auto',
      doc: 'Tools for resources and prompts in the mode `gateway`, if some server has any. `tools`: every client gets them. `off`: no client does. `auto`: clients that do not show the user resources and prompts themselves; VS Code, Claude Code and Claude Desktop do, and get three tools.',
    }),
  ),
  idleMinutes: block(
    number({
      above: 0,
      max: 1_440,
      default: IDLE_MINUTES,
      hint: 'to keep one server running set its "keepAlive"',
      doc: 'A server without a call for this many minutes is stopped. The next call starts it again. A workspace cannot shorten it if you have servers of your own.',
    }),
    { combine: keepIdleTime },
  ),
  startup: block<Startup>(startup, { defaultValue: defaultsOf(STARTUP), combine: keepStartup }),
  liveRefresh: block(
    object(LIVE_REFRESH, {
      doc: 'Reaction to a server that announces changed tools. That of a workspace has no effect if you have one, or servers, of your own.',
    }),
    { defaultValue: defaultsOf(LIVE_REFRESH), combine: keepOwn('liveRefresh', defaultsOf(LIVE_REFRESH)) },
  ),
  activity: block(activity, {
    defaultValue: defaultsOf(ACTIVITY),
    // A workspace cannot have kept what the user does not want kept.
    combine: (own, { value }) => (own?.value.keepArguments === false ? own.value : value),
    safety: { strictest: () => ({ keepArguments: false }), untilThen: 'no arguments and answers are kept' },
  }),
  browse: block(object(BROWSE, { doc: 'How `tool_browse` answers.' }), { defaultValue: defaultsOf(BROWSE) }),
  artifacts: block<Artifacts>(artifacts, {
    defaultValue: defaultsOf(ARTIFACTS),
    combine: keepMasks,
    safety: {
      strictest: (_, readable) => ({
        ...(readable ?? defaultsOf(ARTIFACTS)),
        maskSecrets: 'always',
        maskOnDisk: true,
      }),
      untilThen: 'secrets are masked in all results, kept ones included',
    },
  }),
} satisfies Readonly<Record<string, Block<unknown>>>;
