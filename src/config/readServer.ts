import { readFileSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { getNodeValue, type Node } from 'jsonc-parser';
import { looksSecret, secretArguments } from '../secrets/clearSecrets.ts';
import type { AuthConfig, ConfigOrigin, FileLocation, WrittenServerConfig } from './gatewayConfig.ts';
import { members, unknownKey } from './jsonNodes.ts';
import { readToolFilter } from './readToolFilter.ts';
import { writtenForm } from './secretReferences.ts';
import { spelledTruth } from './spelledValues.ts';
import { resolveVariables, VariableError } from './variables.ts';

/** One entry of `servers`, in the form of VS Code's mcp.json. */
const SHARED_KEYS = ['disabled', 'keepAlive', 'required', 'tools'];
const STDIO_KEYS = ['command', 'args', 'env', 'cwd', 'envFile'];
const HTTP_KEYS = ['url', 'headers', 'auth'];
const AUTH_KEYS = ['clientId', 'clientSecret', 'scopes', 'issuer'];
const SERVER_KEYS = ['type', ...STDIO_KEYS, ...HTTP_KEYS, ...SHARED_KEYS];
const TYPES = ['stdio', 'http', 'sse'];

interface Context {
  workspace: string;
  /** Where a server runs, and what its paths are relative to, where the file does not say. */
  baseFolder: string;
  origin: ConfigOrigin;
  env: NodeJS.ProcessEnv;
  location: FileLocation;
  inputs: ReadonlySet<string>;
  warn(message: string, offset: number): void;
  /** A server that is switched off needs no secret yet: what its references lead to is not asked. */
  unresolved?: boolean;
}

type Result = { server: WrittenServerConfig } | { problem: string; offset: number };

class Flaw extends Error {
  readonly node: Node;
  constructor(message: string, node: Node) {
    super(message);
    this.node = node;
  }
}

export function readServer(name: string, node: Node, context: Context): Result {
  try {
    return { server: read(name, node, context) };
  } catch (error) {
    if (error instanceof Flaw) return { problem: `Server "${name}": ${error.message}`, offset: error.node.offset };
    throw error;
  }
}

function read(name: string, node: Node, given: Context): WrittenServerConfig {
  if (node.type !== 'object') throw new Flaw('it must be an object with a "command" or a "url".', node);
  const fields = new Map<string, Node>();
  const keys = new Map<string, Node>();
  for (const [key, value] of members(node)) {
    if (fields.has(key.value)) throw new Flaw(`"${key.value}" stands here twice.`, key);
    fields.set(key.value, value);
    keys.set(key.value, key);
  }
  for (const [name, key] of keys) {
    if (!SERVER_KEYS.includes(name)) throw new Flaw(unknownKey(name, SERVER_KEYS), key);
  }
  const type = typeOf(fields.get('type'), node, fields);
  const misplaced = [...keys].find(([name]) => (type === 'stdio' ? HTTP_KEYS : STDIO_KEYS).includes(name));
  if (misplaced) {
    const whose = type === 'stdio' ? 'a server at a URL' : 'a server with a "command"';
    throw new Flaw(`"${misplaced[0]}" belongs to ${whose}, and this one is not.`, misplaced[1]);
  }
  const disabled = flag(fields.get('disabled'), 'disabled');
  const context = { ...given, unresolved: disabled };
  const keepAlive = flag(fields.get('keepAlive'), 'keepAlive');
  const [required, tools] = [fields.get('required'), fields.get('tools')];
  const shared = {
    name,
    disabled,
    keepAlive,
    location: context.location,
    origin: context.origin,
    ...(required && { required: requiredOf(required) }),
    ...(tools && { tools: readToolFilter(tools, fail) }),
  };
  if (type !== 'stdio') {
    const headers = dictionary(fields.get('headers'), 'headers', HEADER, context);
    warnOfSecrets(fields, name, context);
    const url = address(fields.get('url') as Node, context);
    const auth = fields.get('auth');
    return { ...shared, type, url, headers, ...(auth ? { auth: signInOf(auth, context) } : {}) };
  }
  warnOfSecrets(fields, name, context);
  const { file: envFile, values: inherited } = readEnvFile(fields.get('envFile'), context);
  return {
    ...shared,
    type,
    command: text(fields.get('command') as Node, '"command"', context, { filled: true }),
    args: list(fields.get('args'), '"args"', context),
    env: { ...inherited, ...dictionary(fields.get('env'), 'env', VARIABLE, context) },
    cwd: folder(fields.get('cwd'), context),
    ...(envFile !== undefined && { envFile }),
  };
}

function fail(message: string, node: Node): never {
  throw new Flaw(message, node);
}

function requiredOf(node: Node): boolean {
  return spelledTruth(node.value) ?? fail('"required" must be true or false.', node);
}

function typeOf(type: Node | undefined, node: Node, fields: ReadonlyMap<string, Node>): WrittenServerConfig['type'] {
  if (type && !TYPES.includes(type.value)) throw new Flaw('"type" must be "stdio", "http" or "sse".', type);
  const [command, url] = [fields.get('command'), fields.get('url')];
  if (command && url) throw new Flaw('it has both a "command" and a "url"; keep one of them.', url);
  if (!command && !url)
    throw new Flaw(type && type.value !== 'stdio' ? 'it has no "url".' : 'it has no "command".', node);
  if (!type) return command ? 'stdio' : 'either';
  if (type.value === 'stdio' && !command) throw new Flaw('it has no "command".', node);
  if (type.value !== 'stdio' && !url) throw new Flaw('it has no "url".', node);
  return type.value as WrittenServerConfig['type'];
}

function address(node: Node, context: Context): string {
  const written = text(node, '"url"', context, { filled: true, secrets: true });
  if (context.unresolved) return written;
  const filledIn = writtenForm(written).replace(/\$\{[^}]*\}/g, 'x');
  if (!URL.canParse(filledIn)) throw new Flaw('"url" is no address; it looks like "https://host/mcp".', node);
  const url = new URL(filledIn);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new Flaw('"url" must begin with https:// or http://.', node);
  if (url.username || url.password)
    throw new Flaw('"url" must hold no password; put it into "headers", by reference.', node);
  return written;
}

function signInOf(node: Node, context: Context): AuthConfig {
  if (node.type !== 'object') throw new Flaw('"auth" must be an object.', node);
  const auth: AuthConfig = {};
  for (const [key, value] of members(node)) {
    switch (key.value) {
      case 'clientId':
        auth.clientId = text(value, '"auth.clientId"', context, { filled: true });
        break;
      case 'clientSecret':
        auth.clientSecret = text(value, '"auth.clientSecret"', context, { filled: true, secrets: true });
        if (!/^\$\{[^}]+\}$/.test(value.value))
          throw new Flaw(`"auth.clientSecret" must be a reference, like "\${secret:NAME}".`, value);
        break;
      case 'scopes':
        auth.scopes = list(value, '"auth.scopes"', context);
        break;
      case 'issuer': {
        const issuer = text(value, '"auth.issuer"', context, { filled: true });
        if (!context.unresolved && !/^https?:$/.test(URL.canParse(issuer) ? new URL(issuer).protocol : ''))
          throw new Flaw('"auth.issuer" is no address; it looks like "https://login.example.com".', value);
        auth.issuer = issuer;
        break;
      }
      default:
        throw new Flaw(unknownKey(key.value, AUTH_KEYS), key);
    }
  }
  return auth;
}

function text(node: Node, what: string, context: Context, { filled = false, secrets = false } = {}): string {
  if (node.type !== 'string') throw new Flaw(`${what} must be a string.`, node);
  if (filled && (node.value as string).trim() === '') throw new Flaw(`${what} must not be empty.`, node);
  if ((node.value as string).includes('\0'))
    throw new Flaw(`${what} holds a NUL character, which no process takes.`, node);
  try {
    return context.unresolved ? node.value : resolveVariables(node.value, context, secrets);
  } catch (error) {
    if (error instanceof VariableError) throw new Flaw(error.message, node);
    throw error;
  }
}

function list(node: Node | undefined, what: string, context: Context): string[] {
  if (!node) return [];
  if (node.type !== 'array') throw new Flaw(`${what} must be a list of strings.`, node);
  return (node.children ?? []).map((item) => text(item, `each of ${what}`, context, { secrets: what === '"args"' }));
}

const VARIABLE = { name: /^[^=\0]+$/, what: 'a variable' };
/** RFC 9110 §5.6.2. */
const HEADER = { name: /^[!#$%&'*+.^`|~\w-]+$/, what: 'a header' };

function dictionary(
  node: Node | undefined,
  field: string,
  rule: { name: RegExp; what: string },
  context: Context,
): Record<string, string> {
  if (!node) return {};
  if (node.type !== 'object') throw new Flaw(`"${field}" must be an object of strings.`, node);
  return Object.fromEntries(
    members(node).map(([key, value]) => {
      if (!rule.name.test(key.value)) throw new Flaw(`${JSON.stringify(key.value)} is no name for ${rule.what}.`, key);
      // mcp.json allows numbers here, and people write booleans.
      if (value.type === 'number' || value.type === 'boolean') return [key.value, String(getNodeValue(value))];
      const content = text(value, `"${field}.${key.value}"`, context, { secrets: true });
      if (rule === HEADER && /[\r\n]/.test(content)) throw new Flaw(`"${field}.${key.value}" must be one line.`, value);
      return [key.value, content];
    }),
  );
}

function folder(node: Node | undefined, context: Context): string {
  if (!node) return context.baseFolder;
  return absolute(text(node, '"cwd"', context, { filled: true }), context);
}

function readEnvFile(
  node: Node | undefined,
  context: Context,
): { file?: string; values: Readonly<Record<string, string>> } {
  if (!node) return { values: {} };
  const file = absolute(text(node, '"envFile"', context, { filled: true }), context);
  if (context.unresolved) return { file, values: {} };
  let values: Record<string, string>;
  try {
    values = parseEnv(readFileSync(file, 'utf8').replace(/^\ufeff/, '')) as Record<string, string>;
  } catch (error) {
    throw new Flaw(`its envFile ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`, node);
  }
  if (
    Object.entries(values)
      .flat()
      .some((part) => part.includes('\0'))
  ) {
    throw new Flaw(`its envFile ${file} holds a NUL character, which no process takes.`, node);
  }
  return { file, values };
}

function flag(node: Node | undefined, name: string): boolean {
  if (!node) return false;
  if (node.type !== 'boolean') throw new Flaw(`"${name}" must be true or false.`, node);
  return node.value as boolean;
}

/** `waygate.json` is read by others and checked in: what looks like a secret in it is told, with the way out. */
function warnOfSecrets(fields: ReadonlyMap<string, Node>, server: string, context: Context): void {
  const warn = (what: string, suggested: string, node: Node): void => {
    const name = suggested.replace(/[^A-Za-z0-9_.-]+/g, '_') || 'NAME';
    const fix = `write \${secret:${name}} there and run: waygate secret set ${name}.`;
    context.warn(`Server "${server}": ${what} looks like a secret in clear; ${fix}`, node.offset);
  };
  for (const field of ['env', 'headers']) {
    for (const [key, value] of members(fields.get(field) ?? EMPTY)) {
      if (value.type !== 'string' || !looksSecret(key.value, value.value)) continue;
      warn(`"${field}.${key.value}"`, field === 'headers' ? `${server}_TOKEN` : key.value, value);
    }
  }
  const items = fields.get('args')?.children ?? [];
  for (const { index, name } of secretArguments(items.map(({ value }) => (typeof value === 'string' ? value : '')))) {
    warn('one of "args"', name, items[index] as Node);
  }
}

const EMPTY: Node = { type: 'object', offset: 0, length: 0, children: [] };

function absolute(path: string, context: Context): string {
  return isAbsolute(path) ? path : resolve(context.baseFolder, path);
}
