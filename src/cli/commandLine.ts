import { statSync } from 'node:fs';
import { INPUT_PREFIX, SECRET_NAME } from '../config/secretReferences.ts';
import type { GatewayTarget } from '../host/attach/startWorker.ts';
import { CLIENT_IDS, type ClientId } from '../import/clientIds.ts';
import { isMode, MODES, type Mode } from '../link/mode.ts';
import { didYouMean } from '../text/nearest.ts';
import { meantToken, type ReportNormalisation } from '../text/normalise.ts';
import {
  type ApproveCommand,
  COMMAND_NAMES,
  type Command,
  type CommandName,
  type HttpOptions,
  NEEDS,
  PLUGIN_CLIENTS,
  type PluginCommand,
  RECORDS_ACTIONS,
  type RecordsGrantsCommand,
  type ScanCommand,
  type SessionCommand,
  TRUST_ACTIONS,
  type TrustCommand,
} from './commands.ts';
import { type OptionValues, parseOptions } from './options.ts';
import { givenPath, localFile, targetOf } from './target.ts';
import { UsageError } from './usageError.ts';

/** Parses a command line. Passes each correction of the input to `report` (O10.2). */
export function parseCommandLine(argv: readonly string[], report: ReportNormalisation = () => undefined): Command {
  const [first, ...rest] = argv;
  if (first === undefined) return { name: 'help', about: 'start' };
  if (first === 'help' || first === '--help' || first === '-h') {
    const [about] = rest;
    return { name: 'help', about: about === undefined ? 'all' : commandNamed(about, report) };
  }
  if (first === '--version' || first === '-v') return { name: 'version' };
  const name = commandNamed(first, report);
  // A client that starts the server reads its stdout as protocol.
  const aside = name === 'records' ? ({ aside: true } as const) : {};
  if (rest.includes('--help') || rest.includes('-h')) return { name: 'help', about: name, ...aside };
  if (name === 'records' && rest.includes('--version')) return { name: 'version', ...aside };
  const { values, subject, names } = parseOptions(name, rest);
  const target = targetOf(name, values, report);
  const json = values.json === true;
  switch (name) {
    case 'serve':
      return { name, ...target, ...modeOf(values, report), ...serverNameOf(values), ...httpOf(values, report) };
    case 'health':
    case 'telemetry':
      return { name, ...target, json, follow: values.follow === true };
    case 'browse':
      return { name, ...target, subject, explain: values.explain === true, json };
    case 'catalog':
      return { name, ...target, stats: values.stats === true, json };
    case 'scan':
      return { name, ...target, json, ...scanOf(values, names) };
    case 'trust':
      return { name, ...target, json, ...trustOf(values, names, report) };
    case 'lock':
      return { name, ...target, json, check: values.check === true, run: values.run === true };
    case 'allow':
    case 'deny':
      return { name, ...target, json, subject, here: values.here === true };
    case 'learned':
      return { name, ...target, forget: forgetOf(values), json };
    case 'approve':
      return { name, ...target, json, ...approveOf(values, names) };
    case 'login':
    case 'logout':
      if (names.length > 1) throw new UsageError(`waygate ${name} takes the name of one server.`);
      if (name === 'logout' && names.length === 0) {
        throw new UsageError('waygate logout needs the name of a server; see waygate status.');
      }
      return { name, ...target, json, server: names[0] };
    case 'secret':
      return { name, ...target, json, ...secretAction(names) };
    case 'import':
      return {
        name,
        ...target,
        json,
        from: Array.isArray(values.from) ? values.from.map((one) => sourceOf(one, report)) : [],
        names,
        all: values.all === true,
        dryRun: values['dry-run'] === true,
        removeFromSource: values['remove-from-source'] === true,
        yes: values.yes === true,
      };
    case 'client-config':
      return {
        name,
        ...target,
        json,
        client: clientOf(names, report),
        write: values.write === true,
        yes: values.yes === true,
      };
    case 'records':
      return names.length > 0 || json
        ? { name, ...target, json, ...grantsOf(values, names) }
        : {
            name,
            ...target,
            providerUrl: filledOption('provider-url', values),
            cacheRoot: givenPath('cache-root', values, report),
            serverName: filledOption('server-name', values),
          };
    case 'skill':
      if (subject !== 'install') throw new UsageError(`waygate skill ${NEEDS.skill}`);
      return { name, ...target, json, into: givenPath('into', values, report), replace: values.replace === true };
    case 'plugin':
      return { name, json, ...pluginOf(values, names, report) };
    case 'session':
      return { name, json, ...sessionOf(values, names, report) };
    case 'uninstall':
      return { name, ...target, json, yes: values.yes === true };
    default:
      return { name, ...target, json };
  }
}

function filledOption(option: string, values: OptionValues): string | undefined {
  const given = values[option];
  if (given === '') throw new UsageError(`--${option} is empty; give a value, or leave the option out.`);
  return typeof given === 'string' ? given : undefined;
}

function commandNamed(given: string, report: ReportNormalisation): CommandName {
  const isOption = given.startsWith('-');
  const name = isOption ? undefined : (meantToken(given, COMMAND_NAMES) as CommandName | undefined);
  if (name !== undefined) {
    if (name !== given) report({ rule: 'token_alias', from: given, to: name });
    return name;
  }
  const remedy = didYouMean(given, [...COMMAND_NAMES, '--help', '--version']);
  throw new UsageError(`unknown ${isOption ? 'option' : 'command'} "${given}"; ${remedy}`);
}

function secretAction(words: readonly string[]): { action: 'set' | 'list' | 'delete'; secret: string } {
  const [action, secret = '', ...more] = words;
  if (action === 'list' && secret === '') return { action, secret };
  if (action !== 'set' && action !== 'delete') throw new UsageError(`waygate secret ${NEEDS.secret}`);
  if (more.length > 0) {
    throw new UsageError(`waygate secret ${action} takes one name and no value; the value is read from stdin.`);
  }
  if (SECRET_NAME.test(secret.replace(INPUT_PREFIX, ''))) return { action, secret };
  throw new UsageError(`waygate secret ${action} needs a name of letters, digits, "_", "." and "-", or input:ID.`);
}

function approveOf(
  values: OptionValues,
  names: readonly string[],
): Pick<ApproveCommand, 'all' | 'names' | 'revoke' | 'hash'> {
  const [all, revoke] = [values.all === true, values.revoke === true];
  if (all && names.length > 0) throw new UsageError('waygate approve takes names or --all, not both.');
  if (revoke && !all && names.length === 0) {
    throw new UsageError('waygate approve --revoke needs a server, a tool_id, or --all.');
  }
  const { hash } = values;
  if (hash === undefined) return { all, names, revoke, hash };
  if (revoke || names.length !== 1) throw new UsageError('waygate approve --hash takes the name of one server.');
  if (typeof hash === 'string' && /^[0-9a-f]{8,64}$/.test(hash)) return { all, names, revoke, hash };
  throw new UsageError('waygate approve --hash needs the 8 characters that waygate approve shows.');
}

function pluginOf(
  values: OptionValues,
  [action, given, ...more]: readonly string[],
  report: ReportNormalisation,
): Omit<PluginCommand, 'json'> {
  const client = PLUGIN_CLIENTS.find((one) => one === given);
  const isBuild = action === 'build' && given === undefined;
  const isInstall = action === 'install' && client !== undefined && more.length === 0;
  if (!isBuild && !isInstall) throw new UsageError(`waygate plugin ${NEEDS.plugin}`);
  return { client, into: givenPath('into', values, report) };
}

const GRANT_OPTIONS = ['stream', 'since', 'until', 'expires'] as const;

function grantsOf(
  values: OptionValues,
  [given, subject = '', ...more]: readonly string[],
): Omit<RecordsGrantsCommand, keyof GatewayTarget | 'json'> {
  const action = RECORDS_ACTIONS.find((one) => one === given);
  const takesSubject = action === 'grant' || action === 'revoke';
  if (action === undefined || more.length > 0 || (subject !== '' && !takesSubject)) {
    throw new UsageError(
      'waygate records takes grant SOURCE, revoke CONNECTION, sources or status, or nothing to serve.',
    );
  }
  const stray = GRANT_OPTIONS.find((option) => action !== 'grant' && values[option] !== undefined);
  if (stray !== undefined) throw new UsageError(`waygate records ${action} takes no --${stray}.`);
  const { since, until, expires } = values as Readonly<Record<string, string | undefined>>;
  const streams = Array.isArray(values.stream) ? values.stream : [];
  return { action, subject, streams, since, until, expires };
}

/** Tokens of a packed session by default: as much as a long answer of a tool has. */
const SESSION_BUDGET = 4_000;

function sessionOf(
  values: OptionValues,
  names: readonly string[],
  report: ReportNormalisation,
): Omit<SessionCommand, 'json'> {
  const [file, ...more] = names;
  if (file === undefined || more.length > 0) throw new UsageError('waygate session takes one file.');
  const { query, budget, item } = values as Readonly<Record<string, string | undefined>>;
  if (query !== undefined && item !== undefined) {
    throw new UsageError('waygate session takes --query or --item, not both.');
  }
  if (query === undefined && budget !== undefined) throw new UsageError('waygate session --budget needs --query.');
  const tokens = budget === undefined ? SESSION_BUDGET : Number(budget);
  if (!Number.isInteger(tokens) || tokens < 1) {
    throw new UsageError('waygate session --budget needs a number of tokens, such as 4000.');
  }
  return { file: localFile(file, 'FILE', report), question: query, budget: tokens, item };
}

const WITHOUT_SUBJECT: readonly string[] = ['log', 'verify'];

function trustOf(
  values: OptionValues,
  words: readonly string[],
  report: ReportNormalisation,
): Pick<TrustCommand, 'action' | 'subject' | 'pin'> {
  const [given, ...rest] = words;
  const action = given === undefined ? 'show' : (meantToken(given, TRUST_ACTIONS) as (typeof TRUST_ACTIONS)[number]);
  if (action === undefined) {
    throw new UsageError(`waygate trust has no action "${given}"; ${didYouMean(given ?? '', TRUST_ACTIONS)}`);
  }
  if (given !== undefined && action !== given) report({ rule: 'token_alias', from: given, to: action });
  const subject = rest.join(' ');
  if (action !== 'show' && WITHOUT_SUBJECT.includes(action) !== (subject === '')) {
    throw new UsageError(
      `waygate trust ${action} ${subject === '' ? 'needs a server or a tool_id; see waygate trust.' : 'takes no name.'}`,
    );
  }
  if (values.pin === undefined) return { action, subject, pin: undefined };
  const pin = String(values.pin).toLowerCase();
  if (action !== 'accept') throw new UsageError('--pin belongs to waygate trust accept.');
  if (/^[0-9a-f]{8,64}$/.test(pin)) return { action, subject, pin };
  throw new UsageError('--pin needs at least the first 8 digits of the pin that waygate trust diff shows.');
}

function scanOf(values: OptionValues, names: readonly string[]): Pick<ScanCommand, 'server' | 'sarif'> {
  if (names.length > 1) throw new UsageError('waygate scan takes the name of one server; see waygate status.');
  if (values.sarif === true && values.json === true) {
    throw new UsageError('--json and --sarif exclude each other; give one.');
  }
  return { server: names[0], sarif: values.sarif === true };
}

function forgetOf(values: OptionValues): 'all' | { toolId: string } | undefined {
  if (values['forget-all'] === true) return 'all';
  if (values.forget === '') throw new UsageError('--forget is empty; name the tool_id, or use --forget-all.');
  return typeof values.forget === 'string' ? { toolId: values.forget } : undefined;
}

function clientOf(names: readonly string[], report: ReportNormalisation): ClientId {
  const [given, ...more] = names;
  if (given === undefined || more.length > 0) {
    throw new UsageError(`waygate client-config needs one client; there are ${CLIENT_IDS.join(', ')}.`);
  }
  const client = clientNamed(given, report);
  if (client) return client;
  throw new UsageError(`waygate client-config knows no client "${given}"; ${didYouMean(given, CLIENT_IDS)}`);
}

function clientNamed(given: string, report: ReportNormalisation): ClientId | undefined {
  const client = meantToken(given, CLIENT_IDS) as ClientId | undefined;
  if (client !== undefined && client !== given) report({ rule: 'token_alias', from: given, to: client });
  return client;
}

/**
 * Parses a client's name or a file. An existing file of exactly this name takes precedence over a corrected client
 * name.
 */
function sourceOf(given: string, report: ReportNormalisation): string {
  if (/^file:/i.test(given)) return localFile(given, '--from', report);
  if (/[\\/.]/.test(given) || statSync(given, { throwIfNoEntry: false })?.isFile()) return given;
  return clientNamed(given, report) ?? given;
}

/** Fixed, so that a client's configuration stays valid. */
const DEFAULT_HTTP_PORT = 7420;

function modeOf({ mode: given }: OptionValues, report: ReportNormalisation): { mode?: Mode } {
  if (typeof given !== 'string') return {};
  const mode = meantToken(given, MODES);
  if (!isMode(mode)) throw new UsageError(`there is no mode "${given}"; ${didYouMean(given, MODES)}`);
  if (mode !== given) report({ rule: 'token_alias', from: given, to: mode });
  return { mode };
}

/** Clients build the names of tools from the server's name. */
const SERVER_NAME = /^[a-z0-9-]{1,13}$/;

function serverNameOf({ name }: OptionValues): { serverName?: string } {
  if (typeof name !== 'string') return {};
  if (SERVER_NAME.test(name)) return { serverName: name };
  throw new UsageError(`--name takes 1 to 13 lower-case letters, digits and "-", not "${name}".`);
}

function httpOf(values: OptionValues, report: ReportNormalisation): { http?: HttpOptions } {
  const noToken = values['no-token'] === true;
  if (values.http !== true) {
    const stray = ['port', 'token-file', 'no-token'].find((option) => values[option] !== undefined);
    if (stray) throw new UsageError(`--${stray} belongs to --http; write waygate serve --http --${stray}.`);
    return {};
  }
  if (noToken && values['token-file'] !== undefined) {
    throw new UsageError('--token-file and --no-token exclude each other; give one.');
  }
  const file = givenPath('token-file', values, report);
  const token = file === undefined ? (noToken ? 'none' : 'own') : { file };
  return { http: { port: portOf(values.port), token } };
}

function portOf(given: OptionValues[string]): number {
  if (given === undefined) return DEFAULT_HTTP_PORT;
  const port = /^\d{1,5}$/.test(String(given)) ? Number(given) : Number.NaN;
  if (port <= 65_535) return port;
  throw new UsageError(`--port must be a number from 0 (any free port) to 65535, not "${given}".`);
}
