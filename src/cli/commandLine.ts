import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CLIENT_IDS, type ClientId } from '../config/import/clientIds.ts';
import { INPUT_PREFIX, SECRET_NAME } from '../config/secretReferences.ts';
import type { GatewayTarget } from '../host/startWorker.ts';
import { FACES, type Face, isFace } from '../ops/face.ts';
import { nearest } from '../ops/nearest.ts';
import { localPath } from '../ops/normalise.ts';

/** `own` is the token that Waygate makes for the workspace. */
export interface HttpOptions {
  port: number;
  token: 'own' | 'none' | { file: string };
}

export interface ServeOptions extends GatewayTarget {
  /** What the configuration says, when absent. */
  mode?: Face;
}

export type Command =
  | { name: 'help' }
  | { name: 'version' }
  | ({ name: 'serve'; http?: HttpOptions } & ServeOptions)
  | ({ name: 'status'; json: boolean } & GatewayTarget)
  | ({ name: 'health' | 'telemetry'; json: boolean; follow: boolean } & GatewayTarget)
  | ({ name: 'stop' | 'reload' } & GatewayTarget)
  | ({ name: 'browse'; subject: string; explain: boolean; json: boolean } & GatewayTarget)
  | ({ name: 'catalog'; stats: boolean; json: boolean } & GatewayTarget)
  | ({ name: 'approve' } & ApproveCommand)
  | ({ name: 'secret'; action: 'set' | 'list' | 'delete'; secret: string } & GatewayTarget)
  | ({ name: 'login' | 'logout'; server: string | undefined } & GatewayTarget)
  | ({ name: 'learned'; forget: 'all' | { toolId: string } | undefined; json: boolean } & GatewayTarget)
  | ({ name: 'import' } & ImportCommand)
  | ({ name: 'client-config'; client: ClientId } & GatewayTarget)
  | ({ name: 'skill'; into: string | undefined; replace: boolean } & GatewayTarget);

export interface ApproveCommand extends GatewayTarget {
  all: boolean;
  /** Servers; with `revoke` also ids of tools. */
  names: readonly string[];
  revoke: boolean;
}

export interface ImportCommand extends GatewayTarget {
  /** Clients and files; all that are found when there is none. */
  from: readonly string[];
  /** Only servers of these names. */
  names: readonly string[];
  all: boolean;
  dryRun: boolean;
  removeFromSource: boolean;
}

const COMMANDS = [
  'serve',
  'status',
  'health',
  'telemetry',
  'reload',
  'stop',
  'browse',
  'catalog',
  'learned',
  'approve',
  'secret',
  'login',
  'logout',
  'import',
  'client-config',
  'skill',
] as const;
const NEEDS = {
  browse: 'needs a query or a path: waygate browse "read a file", or /.',
  secret: 'needs to know what to do: set NAME, list, or delete NAME.',
  skill: 'needs to know what to do: waygate skill install.',
} as const;
const TAKES_WORDS: ReadonlySet<string> = new Set([
  'browse',
  'approve',
  'secret',
  'login',
  'logout',
  'import',
  'client-config',
  'skill',
]);

/** Every command is about the gateway of a workspace, or of a configuration given by hand. */
const TARGET = { workspace: { type: 'string' }, config: { type: 'string' } } as const;

const MAY_BE_ABSENT: ReadonlySet<string> = new Set([
  'import',
  'status',
  'health',
  'telemetry',
  'stop',
  'client-config',
]);

const OPTIONS = {
  serve: {
    ...TARGET,
    mode: { type: 'string' },
    catalog: { type: 'string' },
    http: { type: 'boolean' },
    port: { type: 'string' },
    'token-file': { type: 'string' },
    'no-token': { type: 'boolean' },
  },
  status: { ...TARGET, json: { type: 'boolean' } },
  health: { ...TARGET, json: { type: 'boolean' }, follow: { type: 'boolean' } },
  telemetry: { ...TARGET, json: { type: 'boolean' }, follow: { type: 'boolean' } },
  reload: { ...TARGET },
  stop: { ...TARGET },
  browse: { ...TARGET, explain: { type: 'boolean' }, json: { type: 'boolean' } },
  catalog: { ...TARGET, stats: { type: 'boolean' }, json: { type: 'boolean' } },
  learned: {
    ...TARGET,
    forget: { type: 'string' },
    'forget-all': { type: 'boolean' },
    json: { type: 'boolean' },
  },
  approve: { ...TARGET, all: { type: 'boolean' }, revoke: { type: 'boolean' } },
  secret: { ...TARGET },
  login: { ...TARGET },
  logout: { ...TARGET },
  import: {
    ...TARGET,
    from: { type: 'string', multiple: true },
    all: { type: 'boolean' },
    'dry-run': { type: 'boolean' },
    'remove-from-source': { type: 'boolean' },
  },
  'client-config': { ...TARGET },
  skill: { ...TARGET, into: { type: 'string' }, replace: { type: 'boolean' } },
} as const;

type OptionValues = Record<string, string | boolean | string[] | undefined>;

/** Always the same, so that a client's configuration stays right. */
const DEFAULT_HTTP_PORT = 7420;

/** EX_USAGE and EX_NOINPUT. */
const USAGE = 64;
const NO_INPUT = 66;

/** A command line that cannot be followed, told in one sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly exitCode: number;

  constructor(message: string, exitCode = USAGE) {
    super(message);
    this.exitCode = exitCode;
  }
}

export function parseCommandLine(argv: readonly string[]): Command {
  const [first, ...rest] = argv;
  if (first === undefined || first === 'help' || first === '--help' || first === '-h') return { name: 'help' };
  if (first === '--version' || first === '-v') return { name: 'version' };
  const name = COMMANDS.find((command) => command === first);
  if (!name) {
    const known = [...COMMANDS, '--help', '--version'];
    const hint = nearest(first, known);
    const remedy = hint ? `did you mean "${hint}"?` : `there are ${known.join(', ')}.`;
    throw new UsageError(`unknown ${first.startsWith('-') ? 'option' : 'command'} "${first}"; ${remedy}`);
  }
  if (rest.includes('--help') || rest.includes('-h')) return { name: 'help' };
  const { values, subject, names } = parseOptions(name, rest);
  const target = targetOf(name, values);
  const json = values.json === true;
  switch (name) {
    case 'serve':
      return { name, ...target, ...modeOf(values), ...catalogOf(values), ...httpOf(values) };
    case 'status':
      return { name, ...target, json };
    case 'health':
    case 'telemetry':
      return { name, ...target, json, follow: values.follow === true };
    case 'browse':
      return { name, ...target, subject, explain: values.explain === true, json };
    case 'catalog':
      return { name, ...target, stats: values.stats === true, json };
    case 'learned':
      return { name, ...target, forget: forgetOf(values), json };
    case 'approve':
      return { name, ...target, ...approveOf(values, names) };
    case 'login':
    case 'logout':
      if (names.length > 1) throw new UsageError(`waygate ${name} takes the name of one server.`);
      return { name, ...target, server: names[0] };
    case 'secret':
      return { name, ...target, ...secretAction(subject) };
    case 'import':
      return {
        name,
        ...target,
        from: Array.isArray(values.from) ? values.from : [],
        names,
        all: values.all === true,
        dryRun: values['dry-run'] === true,
        removeFromSource: values['remove-from-source'] === true,
      };
    case 'client-config':
      return { name, ...target, client: clientOf(names) };
    case 'skill':
      if (subject !== 'install') throw new UsageError(`waygate skill ${NEEDS.skill}`);
      if (values.into === '') throw new UsageError('--into is empty; name the folder, or leave the option out.');
      return { name, ...target, into: values.into as string | undefined, replace: values.replace === true };
    default:
      return { name, ...target };
  }
}

function secretAction(subject: string): { action: 'set' | 'list' | 'delete'; secret: string } {
  const [action, secret = '', ...more] = subject.split(' ');
  if (action === 'list' && secret === '') return { action, secret };
  if (action !== 'set' && action !== 'delete') throw new UsageError(`waygate secret ${NEEDS.secret}`);
  if (more.length > 0) {
    throw new UsageError(`waygate secret ${action} takes one name and no value; the value is read from stdin.`);
  }
  if (SECRET_NAME.test(secret.replace(INPUT_PREFIX, ''))) return { action, secret };
  throw new UsageError(`waygate secret ${action} needs a name of letters, digits, "_", "." and "-", or input:ID.`);
}

function modeOf({ mode }: OptionValues): { mode?: Face } {
  if (mode === undefined) return {};
  if (isFace(mode)) return { mode };
  const hint = nearest(String(mode), FACES);
  throw new UsageError(
    `there is no mode "${mode}"; ${hint ? `did you mean "${hint}"?` : `there are ${FACES.join(', ')}.`}`,
  );
}

function catalogOf({ catalog, config }: OptionValues): { catalog?: string } {
  if (catalog === undefined) return {};
  if (config !== undefined) throw new UsageError('--catalog and --config exclude each other; give one.');
  const file = resolve(String(catalog));
  if (catalog !== '' && statSync(file, { throwIfNoEntry: false })?.isFile()) return { catalog: file };
  throw new UsageError(`there is no catalog file ${file}; name one with --catalog.`, NO_INPUT);
}

function httpOf(values: OptionValues): { http?: HttpOptions } {
  const file = values['token-file'];
  const noToken = values['no-token'] === true;
  if (values.http !== true) {
    const stray = ['port', 'token-file', 'no-token'].find((option) => values[option] !== undefined);
    if (stray) throw new UsageError(`--${stray} belongs to --http; write waygate serve --http --${stray}.`);
    return {};
  }
  if (noToken && file !== undefined) throw new UsageError('--token-file and --no-token exclude each other; give one.');
  if (file === '') throw new UsageError('--token-file is empty; name the file, or leave the option out.');
  const token = typeof file === 'string' ? { file: resolve(file) } : noToken ? 'none' : 'own';
  return { http: { port: portOf(values.port), token } };
}

function portOf(given: string | boolean | string[] | undefined): number {
  if (given === undefined) return DEFAULT_HTTP_PORT;
  const port = /^\d{1,5}$/.test(String(given)) ? Number(given) : Number.NaN;
  if (port <= 65_535) return port;
  throw new UsageError(`--port must be a number from 0 (any that is free) to 65535, not "${given}".`);
}

function approveOf(values: OptionValues, names: readonly string[]): Omit<ApproveCommand, keyof GatewayTarget> {
  const [all, revoke] = [values.all === true, values.revoke === true];
  if (all && names.length > 0) throw new UsageError('waygate approve takes names or --all, not both.');
  if (revoke && !all && names.length === 0) {
    throw new UsageError('waygate approve --revoke needs a server, a tool_id, or --all.');
  }
  return { all, names, revoke };
}

function forgetOf(values: OptionValues): 'all' | { toolId: string } | undefined {
  if (values['forget-all'] === true) return 'all';
  return typeof values.forget === 'string' ? { toolId: values.forget } : undefined;
}

function clientOf(names: readonly string[]): ClientId {
  const [name, ...more] = names;
  const known = `there are ${CLIENT_IDS.join(', ')}.`;
  if (name === undefined || more.length > 0) throw new UsageError(`waygate client-config needs one client; ${known}`);
  const client = CLIENT_IDS.find((id) => id === name);
  if (client) return client;
  const hint = nearest(name, CLIENT_IDS);
  throw new UsageError(`waygate client-config knows no client "${name}"; ${hint ? `did you mean "${hint}"?` : known}`);
}

interface ParsedOptions {
  values: OptionValues;
  /** All words that are no options: as one text, and one by one. */
  subject: string;
  names: readonly string[];
}

function parseOptions(command: keyof typeof OPTIONS, argv: string[]): ParsedOptions {
  const options = OPTIONS[command];
  const known = Object.keys(options).map((option) => `--${option}`);
  for (const argument of argv) {
    const option = argument.split('=')[0] as string;
    if (argument.startsWith('-') && !known.includes(option)) {
      const hint = nearest(option, known);
      throw new UsageError(
        `waygate ${command} has no option "${option}"; ${hint ? `did you mean "${hint}"?` : `it takes ${known.join(', ')}.`}`,
      );
    }
  }
  try {
    const allowPositionals = TAKES_WORDS.has(command);
    const { values, positionals } = parseArgs({ args: argv, options, strict: true, allowPositionals });
    const subject = positionals.join(' ');
    if (command in NEEDS && subject.trim() === '') {
      throw new UsageError(`waygate ${command} ${NEEDS[command as keyof typeof NEEDS]}`);
    }
    return { values: values as OptionValues, subject, names: positionals };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    // Node's own sentence names the option or the stray word; its second sentence is about how to write a program.
    throw new UsageError(`waygate ${command}: ${(error as Error).message.split(/\. |\n/)[0]}.`.replace('..', '.'));
  }
}

function targetOf(command: (typeof COMMANDS)[number], values: OptionValues): GatewayTarget {
  const workspace = existingFolder(values.workspace);
  if (typeof values.config !== 'string') return { workspace };
  if (values.config === '') throw new UsageError('--config is empty; name the file, or leave the option out.');
  const configFile = resolve(values.config);
  // Import makes the file, and a gateway whose file has gone can still be asked and stopped.
  if (MAY_BE_ABSENT.has(command) || isFile(configFile)) return { workspace, configFile };
  throw new UsageError(
    `the configuration ${configFile} does not exist or is no file; name it with --config.`,
    NO_INPUT,
  );
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function existingFolder(given: OptionValues[string]): string {
  if (given === '') throw new UsageError('--workspace is empty; name the folder, or leave the option out.');
  // An editor's own notation of a folder is one too.
  const folder = localPath(typeof given === 'string' ? given : '.', process.cwd());
  if (folder === undefined) {
    throw new UsageError(`${given} names no folder of this machine; name one with --workspace.`, NO_INPUT);
  }
  try {
    if (statSync(folder).isDirectory()) return folder;
  } catch {
    throw new UsageError(`the workspace folder ${folder} does not exist; name another with --workspace.`, NO_INPUT);
  }
  throw new UsageError(`${folder} is not a folder; name the workspace's folder with --workspace.`, NO_INPUT);
}
