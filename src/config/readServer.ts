import { readFileSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { getNodeValue, type Node } from 'jsonc-parser';
import type { FileLocation, ServerConfig } from './gatewayConfig.ts';
import { members, unknownKey } from './jsonNodes.ts';
import { resolveVariables, VariableError } from './variables.ts';

/** One entry of `servers`, in the form of VS Code's mcp.json for a server over stdio. */
const SERVER_KEYS = ['type', 'command', 'args', 'env', 'cwd', 'envFile', 'disabled'];

interface Context {
  workspace: string;
  env: NodeJS.ProcessEnv;
  location: FileLocation;
  /** A server that is switched off needs no secret yet: what its references lead to is not asked. */
  unresolved?: boolean;
}

type Result = { server: ServerConfig } | { problem: string; offset: number };

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

function read(name: string, node: Node, given: Context): ServerConfig {
  if (node.type !== 'object') throw new Flaw('it must be an object with a "command".', node);
  const fields = new Map<string, Node>();
  const keys = new Map<string, Node>();
  for (const [key, value] of members(node)) {
    if (fields.has(key.value)) throw new Flaw(`"${key.value}" stands here twice.`, key);
    fields.set(key.value, value);
    keys.set(key.value, key);
  }
  const type = fields.get('type');
  if (type && type.value !== 'stdio') throw new Flaw('"type" must be "stdio": only servers over stdio run here.', type);
  for (const [name, key] of keys) {
    if (!SERVER_KEYS.includes(name)) throw new Flaw(unknownKey(name, SERVER_KEYS), key);
  }
  const command = fields.get('command');
  if (!command) throw new Flaw('it has no "command".', node);
  const disabled = flag(fields.get('disabled'));
  const context = { ...given, unresolved: disabled };
  const inherited = readEnvFile(fields.get('envFile'), context);
  return {
    name,
    type: 'stdio',
    command: text(command, '"command"', context, true),
    args: list(fields.get('args'), context),
    env: { ...inherited, ...dictionary(fields.get('env'), context) },
    cwd: folder(fields.get('cwd'), context),
    disabled,
    location: context.location,
  };
}

function text(node: Node, what: string, context: Context, filled = false): string {
  if (node.type !== 'string') throw new Flaw(`${what} must be a string.`, node);
  if (filled && (node.value as string).trim() === '') throw new Flaw(`${what} must not be empty.`, node);
  if ((node.value as string).includes('\0'))
    throw new Flaw(`${what} holds a NUL character, which no process takes.`, node);
  try {
    return context.unresolved ? node.value : resolveVariables(node.value, context);
  } catch (error) {
    if (error instanceof VariableError) throw new Flaw(error.message, node);
    throw error;
  }
}

function list(node: Node | undefined, context: Context): string[] {
  if (!node) return [];
  if (node.type !== 'array') throw new Flaw('"args" must be a list of strings.', node);
  return (node.children ?? []).map((item) => text(item, 'each of "args"', context));
}

function dictionary(node: Node | undefined, context: Context): Record<string, string> {
  if (!node) return {};
  if (node.type !== 'object') throw new Flaw('"env" must be an object of strings.', node);
  return Object.fromEntries(
    members(node).map(([key, value]) => {
      if (!/^[^=\0]+$/.test(key.value)) throw new Flaw(`${JSON.stringify(key.value)} is no name for a variable.`, key);
      // mcp.json allows numbers here, and people write booleans.
      if (value.type === 'number' || value.type === 'boolean') return [key.value, String(getNodeValue(value))];
      return [key.value, text(value, `"env.${key.value}"`, context)];
    }),
  );
}

function folder(node: Node | undefined, context: Context): string {
  if (!node) return context.workspace;
  return absolute(text(node, '"cwd"', context, true), context);
}

function readEnvFile(node: Node | undefined, context: Context): Record<string, string> {
  if (!node) return {};
  const file = absolute(text(node, '"envFile"', context, true), context);
  if (context.unresolved) return {};
  try {
    return parseEnv(readFileSync(file, 'utf8').replace(/^\ufeff/, '')) as Record<string, string>;
  } catch (error) {
    throw new Flaw(`its envFile ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`, node);
  }
}

function flag(node: Node | undefined): boolean {
  if (!node) return false;
  if (node.type !== 'boolean') throw new Flaw('"disabled" must be true or false.', node);
  return node.value as boolean;
}

function absolute(path: string, context: Context): string {
  return isAbsolute(path) ? path : resolve(context.workspace, path);
}
