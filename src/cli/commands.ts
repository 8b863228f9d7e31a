import type { GatewayTarget } from '../host/attach/startWorker.ts';
import type { ClientId } from '../import/clientIds.ts';
import type { Mode } from '../link/mode.ts';

/** `own` is the token that Waygate makes for the workspace. */
export interface HttpOptions {
  port: number;
  token: 'own' | 'none' | { file: string };
}

export interface ServeOptions extends GatewayTarget {
  /** Mode of the session; the configuration decides when it is absent. */
  mode?: Mode;
  /** Name of the server for the client. */
  serverName?: string;
}

/** Output of a command: lines for a person, or data on request (O9.1). */
export interface Printed {
  json: boolean;
}

export interface FollowCommand extends GatewayTarget, Printed {
  follow: boolean;
}

export interface BrowseCommand extends GatewayTarget, Printed {
  /** Path if it begins with a slash, else a query. */
  subject: string;
  explain: boolean;
}

export interface CatalogCommand extends GatewayTarget, Printed {
  stats: boolean;
}

export interface ScanCommand extends GatewayTarget, Printed {
  /** Server to scan; all by default. */
  server: string | undefined;
  sarif: boolean;
}

export const TRUST_ACTIONS = ['diff', 'accept', 'block', 'quarantine', 'release', 'log', 'verify'] as const;

export interface TrustCommand extends GatewayTarget, Printed {
  action: 'show' | (typeof TRUST_ACTIONS)[number];
  /** Server, tool_id, or server and key of an item; empty where the action takes none. */
  subject: string;
  /** Beginning of the pin that `diff` showed. */
  pin: string | undefined;
}

export interface LockCommand extends GatewayTarget, Printed {
  check: boolean;
  /** Starts the servers for this run alone, whether or not the user approved them. */
  run: boolean;
}

export interface RuleCommand extends GatewayTarget, Printed {
  /** Server or tool_id. */
  subject: string;
  /** Writes the rule into the workspace's file instead of the user's own. */
  here: boolean;
}

export interface LearnedCommand extends GatewayTarget, Printed {
  forget: 'all' | { toolId: string } | undefined;
}

export interface ApproveCommand extends GatewayTarget, Printed {
  all: boolean;
  /** Servers; with `revoke` also tool ids. */
  names: readonly string[];
  revoke: boolean;
  /** Beginning of the hash of the launch that was shown. */
  hash: string | undefined;
}

export interface SecretCommand extends GatewayTarget, Printed {
  action: 'set' | 'list' | 'delete';
  secret: string;
}

export interface LoginCommand extends GatewayTarget, Printed {
  server: string | undefined;
}

export interface ImportCommand extends GatewayTarget, Printed {
  /** Clients and files; empty means all that are found. */
  from: readonly string[];
  /** Names of the servers to import; empty means all. */
  names: readonly string[];
  all: boolean;
  dryRun: boolean;
  removeFromSource: boolean;
  yes: boolean;
}

export interface ClientConfigCommand extends GatewayTarget, Printed {
  client: ClientId;
  write: boolean;
  yes: boolean;
}

export interface UninstallCommand extends GatewayTarget, Printed {
  yes: boolean;
}

export interface SkillCommand extends GatewayTarget, Printed {
  /** Folder of skills; the workspace's own by default. */
  into: string | undefined;
  replace: boolean;
}

export const RECORDS_ACTIONS = ['grant', 'revoke', 'sources', 'status'] as const;

export interface RecordsGrantsCommand extends GatewayTarget, Printed {
  action: (typeof RECORDS_ACTIONS)[number];
  /** `history`, `agents`, a folder, or with `revoke` the id of a connection. */
  subject: string;
  /** Values of `--stream`: `name`, or `name=field,field`. */
  streams: readonly string[];
  since: string | undefined;
  until: string | undefined;
  expires: string | undefined;
}

export interface SessionCommand extends Printed {
  file: string;
  /** Packs what the session says about it, instead of showing all. */
  question: string | undefined;
  /** Tokens that a packed session may have. */
  budget: number;
  /** Id of the one item to print whole. */
  item: string | undefined;
}

export const PLUGIN_CLIENTS = ['copilot-cli', 'codex', 'vscode'] as const;

export interface PluginCommand extends Printed {
  /** Client that gets the plugin; undefined only builds it. */
  client: (typeof PLUGIN_CLIENTS)[number] | undefined;
  /** Folder of the built plugin; one in the state by default. */
  into: string | undefined;
}

export interface RecordsCommand extends GatewayTarget {
  /** Address of a remote provider; the environment or the default decides when it is absent. */
  providerUrl: string | undefined;
  /** Folder of the cached credentials. */
  cacheRoot: string | undefined;
  /** Name of the server for its client. */
  serverName: string | undefined;
}

export type Command =
  | { name: 'help'; about: CommandName | 'start' | 'all'; aside?: true }
  | { name: 'version'; aside?: true }
  | ({ name: 'serve'; http?: HttpOptions } & ServeOptions)
  | ({ name: 'status' | 'stop' | 'reload' } & GatewayTarget & Printed)
  | ({ name: 'health' | 'telemetry' } & FollowCommand)
  | ({ name: 'browse' } & BrowseCommand)
  | ({ name: 'catalog' } & CatalogCommand)
  | ({ name: 'scan' } & ScanCommand)
  | ({ name: 'trust' } & TrustCommand)
  | ({ name: 'lock' } & LockCommand)
  | ({ name: 'allow' | 'deny' } & RuleCommand)
  | ({ name: 'learned' } & LearnedCommand)
  | ({ name: 'approve' } & ApproveCommand)
  | ({ name: 'secret' } & SecretCommand)
  | ({ name: 'login' | 'logout' } & LoginCommand)
  | ({ name: 'import' } & ImportCommand)
  | ({ name: 'client-config' } & ClientConfigCommand)
  | ({ name: 'skill' } & SkillCommand)
  | ({ name: 'plugin' } & PluginCommand)
  | ({ name: 'records'; action?: undefined } & RecordsCommand)
  | ({ name: 'records' } & RecordsGrantsCommand)
  | ({ name: 'session' } & SessionCommand)
  | ({ name: 'uninstall' } & UninstallCommand);

const FLAG = { type: 'boolean' } as const;
const TEXT = { type: 'string' } as const;
/** Options that select the gateway: of a workspace, or of an explicitly given configuration file. */
const TARGET = { workspace: TEXT, config: TEXT } as const;
/** Options for commands that need no servers: a static catalog is possible too. */
const ANY_TARGET = { ...TARGET, catalog: TEXT } as const;

/** Every command with its options. All commands that print take `--json`. */
export const OPTIONS = {
  serve: {
    ...TARGET,
    mode: TEXT,
    name: TEXT,
    catalog: TEXT,
    http: FLAG,
    port: TEXT,
    'token-file': TEXT,
    'no-token': FLAG,
  },
  status: { ...ANY_TARGET, json: FLAG },
  health: { ...ANY_TARGET, json: FLAG, follow: FLAG },
  telemetry: { ...ANY_TARGET, json: FLAG, follow: FLAG },
  reload: { ...ANY_TARGET, json: FLAG },
  stop: { ...ANY_TARGET, json: FLAG },
  browse: { ...ANY_TARGET, explain: FLAG, json: FLAG },
  catalog: { ...ANY_TARGET, stats: FLAG, json: FLAG },
  scan: { ...ANY_TARGET, sarif: FLAG, json: FLAG },
  trust: { ...TARGET, pin: TEXT, json: FLAG },
  lock: { ...TARGET, check: FLAG, run: FLAG, json: FLAG },
  allow: { ...TARGET, here: FLAG, json: FLAG },
  deny: { ...TARGET, here: FLAG, json: FLAG },
  learned: { ...ANY_TARGET, forget: TEXT, 'forget-all': FLAG, json: FLAG },
  approve: { ...TARGET, all: FLAG, hash: TEXT, revoke: FLAG, json: FLAG },
  secret: { ...TARGET, json: FLAG },
  login: { ...TARGET, json: FLAG },
  logout: { ...TARGET, json: FLAG },
  import: {
    ...TARGET,
    from: { type: 'string', multiple: true },
    all: FLAG,
    'dry-run': FLAG,
    'remove-from-source': FLAG,
    yes: FLAG,
    json: FLAG,
  },
  'client-config': { ...ANY_TARGET, write: FLAG, yes: FLAG, json: FLAG },
  plugin: { into: TEXT, json: FLAG },
  records: {
    workspace: TEXT,
    'provider-url': TEXT,
    'cache-root': TEXT,
    'server-name': TEXT,
    stream: { type: 'string', multiple: true },
    since: TEXT,
    until: TEXT,
    expires: TEXT,
    json: FLAG,
  },
  skill: { ...TARGET, into: TEXT, replace: FLAG, json: FLAG },
  session: { query: TEXT, budget: TEXT, item: TEXT, json: FLAG },
  uninstall: { workspace: TEXT, yes: FLAG, json: FLAG },
} as const;

export type CommandName = keyof typeof OPTIONS;
export const COMMAND_NAMES = Object.keys(OPTIONS) as readonly CommandName[];

/** Required arguments of commands, for the usage error. */
export const NEEDS: Readonly<Partial<Record<CommandName, string>>> = {
  allow: 'needs a server, or a tool by its path or tool_id; see waygate catalog.',
  deny: 'needs a server, or a tool by its path or tool_id; see waygate catalog.',
  browse: 'needs a query or a path: waygate browse "read a file", or /.',
  secret: 'needs an action: set NAME, list, or delete NAME.',
  skill: 'needs an action: waygate skill install.',
  plugin: 'needs an action: build, or install copilot-cli, codex or vscode.',
  session: 'needs a file: waygate session session.jsonl.',
};

export const TAKES_WORDS: ReadonlySet<CommandName> = new Set([
  'browse',
  'scan',
  'trust',
  'allow',
  'deny',
  'approve',
  'secret',
  'login',
  'logout',
  'import',
  'client-config',
  'plugin',
  'records',
  'skill',
  'session',
]);

/**
 * Commands whose `--config` file may be missing: `import` creates it, and a gateway whose file was deleted can still be
 * queried and stopped.
 */
export const MAY_BE_ABSENT: ReadonlySet<CommandName> = new Set([
  'import',
  'status',
  'health',
  'telemetry',
  'stop',
  'client-config',
]);
