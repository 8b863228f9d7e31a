import { createHash } from 'node:crypto';
import { isAbsolute, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { findNodeAtLocation, type Node } from 'jsonc-parser';
import { readBounded, readFailure } from '../lib/readBounded.ts';
import { distinctMembers, joined, object, unknownKey } from './declaration/collections.ts';
import type { Reader } from './declaration/field.ts';
import type { InputConfig } from './declaration/gatewayBlocks.ts';
import {
  type HttpKeys,
  type RecordsKeys,
  SERVER_KEYS,
  SERVER_TYPE,
  type SharedKeys,
  type StdioKeys,
} from './declaration/server.ts';
import type { ConfigOrigin, FileLocation, ProblemKind, WrittenServerConfig } from './gatewayConfig.ts';
import { members } from './jsonNodes.ts';
import { secretsInClear } from './secretsInClear.ts';
import { isKnownStateful } from './statefulServers.ts';
import { resolveVariables } from './variables.ts';

export interface ServerContext {
  workspace: string;
  /** Working folder of a server, and base of its relative paths, unless the file sets one. */
  baseFolder: string;
  origin: ConfigOrigin;
  env: NodeJS.ProcessEnv;
  location: FileLocation;
  inputs: ReadonlyMap<string, InputConfig>;
  /** Called with each file that the entry needs. */
  reads(file: string): void;
  report: Reader['report'];
  warn: (message: string, node: Node, kind: ProblemKind) => void;
}

const SHAPES = {
  stdio: object({ type: SERVER_TYPE, ...SERVER_KEYS.stdio, ...SERVER_KEYS.shared }, {}),
  http: object({ type: SERVER_TYPE, ...SERVER_KEYS.http, ...SERVER_KEYS.shared }, {}),
  records: object({ type: SERVER_TYPE, ...SERVER_KEYS.records, ...SERVER_KEYS.shared }, {}),
};

/** Keys that decide about a start. */
const DECLARED = {
  stdio: object(SERVER_KEYS.stdio, {}),
  http: object(SERVER_KEYS.http, {}),
  records: object(SERVER_KEYS.records, {}),
};

/** Reads one entry of `servers`. Returns `undefined` after an error: an entry is used completely or not at all. */
export function readServer(name: string, node: Node, context: ServerContext): WrittenServerConfig | undefined {
  const path = joined('servers', name);
  let isSound = true;
  const report: Reader['report'] = (message, at, kind) => {
    isSound = false;
    context.report(message, at, kind);
  };
  checkKeys(node, path, report);
  // A misspelled "command" is no missing one. The other keys are read all the same, so that each error is reported.
  const type = typeOf(node, path, isSound ? report : () => undefined);
  if (type === undefined) return undefined;
  const kind = kindOf(type);
  // A disabled server needs neither variables nor secrets yet.
  const isOff = findNodeAtLocation(node, ['disabled'])?.value === true;
  const reader: Reader = isOff
    ? { report, unresolved: true }
    : { report, resolve: (text, secrets) => resolveVariables(text, context, secrets) };
  const entry = SHAPES[kind].read(node, path, reader);
  if (!entry || !isSound) return undefined;
  warnOfSecrets(node, path, name, context);
  if ('command' in entry && !isOff) warnOfState(node, path, entry as StdioKeys & SharedKeys, context);
  const { location, origin } = context;
  const used = new Set(Array.from(nodeText(node).matchAll(/\$\{input:([^}]*)\}/g), ([, id]) => id));
  const inputs = [...context.inputs.values()].filter(({ id }) => used.has(id));
  const common = { name, location, origin, ...(inputs.length > 0 && { inputs }) };
  const declared = DECLARED[kind].read(node, path, {
    report: () => undefined,
    resolve: (text, secrets) => resolveVariables(text, { ...context, keepsEnvironment: true }, secrets),
    unresolved: true,
  });
  if (type === 'records') {
    return { ...(entry as RecordsKeys & SharedKeys), type, ...common, declared: declared as RecordsKeys };
  }
  if (type !== 'stdio') return { ...(entry as HttpKeys & SharedKeys), type, ...common, declared: declared as HttpKeys };
  const written = entry as StdioKeys & SharedKeys;
  const { cwd, envFile } = written;
  const folder = cwd === undefined ? context.baseFolder : absolute(cwd, context);
  const base = { ...written, type, ...common, cwd: folder, declared: declared as StdioKeys };
  if (envFile === undefined) return base;
  const file = absolute(envFile, context);
  if (!isOff) context.reads(file);
  const variables = isOff ? { hash: '', values: {} } : readEnvFile(file, context);
  if (typeof variables !== 'string') {
    const { hash, values } = variables;
    return { ...base, envFile: file, envFileHash: hash, env: { ...values, ...written.env } };
  }
  report(`"${path}.envFile": ${file} ${variables}`, findNodeAtLocation(node, ['envFile']) as Node);
  return undefined;
}

const KINDS = {
  stdio: { keys: Object.keys(SERVER_KEYS.stdio), description: 'a server with a "command"' },
  http: { keys: Object.keys(SERVER_KEYS.http), description: 'a server with a "url"' },
  records: { keys: Object.keys(SERVER_KEYS.records), description: 'a server of the type "records"' },
};
const OF_ONE_KIND = [...new Set(Object.values(KINDS).flatMap(({ keys }) => keys))];
export const ALL_KEYS = ['type', ...OF_ONE_KIND, ...Object.keys(SERVER_KEYS.shared)];
/** Keys that say how the server starts, and nothing about its limits. */
export const LAUNCH_KEYS = [
  ...['type', 'keepAlive', 'required', 'startTimeoutSeconds'],
  ...OF_ONE_KIND.filter((key) => key !== 'sandbox'),
];

function checkKeys(node: Node, path: string, report: Reader['report']): void {
  if (node.type !== 'object') {
    report(`"${path}" must be an object with a "command" or a "url".`, node);
    return;
  }
  for (const [key] of distinctMembers(node, path, { report })) {
    if (!ALL_KEYS.includes(key.value)) report(...unknownKey(joined(path, key.value), key, ALL_KEYS));
  }
}

function kindOf(type: WrittenServerConfig['type']): keyof typeof KINDS {
  return type === 'sse' ? 'http' : type;
}

/** Determines the type of an entry from `type`, `command` and `url`, and reports an entry without or with two types. */
function typeOf(node: Node, path: string, report: Reader['report']): WrittenServerConfig['type'] | undefined {
  const [type, command, url] = ['type', 'command', 'url'].map((key) => findNodeAtLocation(node, [key]));
  const written = type && SERVER_TYPE.read(type, `${path}.type`, { report });
  if (type && !written) return undefined;
  if (command && url) return void report(`"${path}" has both a "command" and a "url"; keep one of them.`, url);
  const kind = kindOf(written ?? (url ? 'http' : 'stdio'));
  const needed = kind === 'stdio' ? command : url;
  if (!needed && kind !== 'records') {
    return void report(`"${path}" has no "${kind === 'stdio' ? 'command' : 'url'}"; add it.`, node, {
      code: 'missing',
    });
  }
  const tokens = findNodeAtLocation(node, ['tokens']);
  if (kind === 'records' && !url && tokens) {
    const remedy = 'add the "url" of its provider, or remove "tokens" to read the records of this machine.';
    return void report(`"${path}" has "tokens" and no "url"; ${remedy}`, tokens, { code: 'missing' });
  }
  if (kind === 'records' && url && !tokens?.children?.length) {
    const remedy = 'add a list with the token of each grant, such as "\u0024{secret:NAME}".';
    return void report(`"${path}" has no "tokens"; ${remedy}`, node, { code: 'missing' });
  }
  const misplaced = members(node).find(
    ([key]) => OF_ONE_KIND.includes(key.value) && !KINDS[kind].keys.includes(key.value),
  );
  if (!misplaced) return written ?? kind;
  const [key] = misplaced;
  const owner = Object.values(KINDS).find(({ keys }) => keys.includes(key.value)) as (typeof KINDS)[typeof kind];
  const place = joined(path, key.value);
  report(`"${place}" belongs to ${owner.description}, and this is ${KINDS[kind].description}; remove it.`, key, {
    code: 'misplaced_key',
  });
  return undefined;
}

interface EnvFile {
  /** SHA-256 of the bytes. */
  hash: string;
  values: Readonly<Record<string, string>>;
}

const MAX_ENV_FILE_BYTES = 256 * 1024;

/** Returns the variables of a file, or the error as text. */
function readEnvFile(file: string, { origin, workspace }: ServerContext): EnvFile | string {
  try {
    const within = origin === 'workspace' ? workspace : undefined;
    const bytes = readBounded(file, { maxBytes: MAX_ENV_FILE_BYTES, within });
    const hash = createHash('sha256').update(bytes).digest('hex');
    const values = parseEnv(bytes.toString('utf8').replace(/^\ufeff/, '')) as Record<string, string>;
    const hasNul = Object.entries(values)
      .flat()
      .some((part) => part.includes('\0'));
    return hasNul ? 'has a NUL character, which no process takes; remove it.' : { hash, values };
  } catch (error) {
    return `cannot be read (${readFailure(error)}).`;
  }
}

/** Returns all strings of an entry. */
function nodeText(node: Node): string {
  return node.type === 'string' ? `${node.value}\n` : (node.children ?? []).map(nodeText).join('');
}

/** Proposes `sharing` for a server that is known to remember what its client did. */
function warnOfState(node: Node, path: string, entry: StdioKeys & SharedKeys, context: ServerContext): void {
  if (entry.sharing !== undefined || !isKnownStateful(entry.command, entry.args)) return;
  const remedy = 'write "sharing": "session" for a process per client, or "workspace" to share one.';
  context.warn(`"${path}" keeps state, which all clients of this workspace share; ${remedy}`, node, {
    code: 'shared_state',
  });
}

/** Warns of secrets in clear: waygate.json is meant to be checked in and read by others. */
function warnOfSecrets(node: Node, path: string, server: string, context: ServerContext): void {
  for (const { path: inner, at, name } of secretsInClear(node, server)) {
    const fix = `write \${secret:${name}} instead and set that secret.`;
    const where = inner.reduce<string>(
      (outer, one) => (typeof one === 'number' ? `${outer}[${one}]` : joined(outer, one)),
      path,
    );
    context.warn(`"${where}" looks like a secret in clear; ${fix}`, at, { code: 'clear_secret' });
  }
}

function absolute(path: string, { baseFolder }: ServerContext): string {
  return isAbsolute(path) ? path : resolve(baseFolder, path);
}
