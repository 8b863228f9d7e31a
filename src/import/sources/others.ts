import { parse as parseYaml, YAMLParseError } from 'yaml';
import { isRecord } from '../../lib/isRecord.ts';
import type { RawServer } from '../readEntry.ts';
import { bracedReferences, editorReferences, noReferences, templateReferences } from '../references.ts';
import { type ClientSource, jsonClient, readServers, UnreadableSource, valueAt } from '../sourceFile.ts';
import { inHome, inWorkspace, joinPath, placesOf, type Surroundings } from '../surroundings.ts';
import { userFolders } from './vscode.ts';

/** Clients with the entries of Claude Desktop, whose places and references differ. */

const cline = jsonClient({
  id: 'cline',
  title: 'Cline',
  files: (at) => ({
    user: [
      ...ofExtension(at, 'saoudrizwan.claude-dev', 'cline_mcp_settings.json'),
      joinPath(at, at.env.CLINE_DIR || inHome(at, '.cline'), 'data', 'settings', 'cline_mcp_settings.json'),
    ],
  }),
  table: () => ({ path: ['mcpServers'], references: editorReferences, timeout: 's' }),
});

const roo = jsonClient({
  id: 'roo',
  title: 'Roo Code',
  files: (at) => ({
    workspace: inWorkspace(at, '.roo', 'mcp.json'),
    user: ofExtension(at, 'rooveterinaryinc.roo-cline', 'mcp_settings.json'),
  }),
  table: () => ({ path: ['mcpServers'], references: editorReferences, timeout: 's' }),
});

const kiro = jsonClient({
  id: 'kiro',
  title: 'Kiro',
  files: (at) => ({
    workspace: inWorkspace(at, '.kiro', 'settings', 'mcp.json'),
    user: inHome(at, '.kiro', 'settings', 'mcp.json'),
  }),
  table: () => ({ path: ['mcpServers'], references: bracedReferences, timeout: 'ms' }),
});

const lmStudio = jsonClient({
  id: 'lm-studio',
  title: 'LM Studio',
  files: (at) => ({ user: inHome(at, '.lmstudio', 'mcp.json') }),
  table: () => ({ path: ['mcpServers'], references: noReferences, timeout: 'ms' }),
});

/** opencode: `mcp.servers` since version 2, `mcp` before. A command is one list, and `tools` hides some by `NAME_tool`. */
const opencode = jsonClient({
  id: 'opencode',
  title: 'opencode',
  files: (at) => {
    const names = ['opencode.json', 'opencode.jsonc'];
    const config = joinPath(at, at.env.XDG_CONFIG_HOME || inHome(at, '.config'), 'opencode');
    return {
      workspace: names.flatMap((name) => [inWorkspace(at, name), inWorkspace(at, '.opencode', name)]),
      user: names.map((name) => joinPath(at, config, name)),
    };
  },
  table(root) {
    const isNew = isRecord(valueAt(root, ['mcp', 'servers']));
    const hidden = Object.entries(isRecord(valueAt(root, ['tools'])) ? (valueAt(root, ['tools']) as object) : {})
      .filter(([, isOn]) => isOn === false)
      .map(([name]) => name);
    return {
      path: isNew ? ['mcp', 'servers'] : ['mcp'],
      references: templateReferences,
      normalise: (raw, name) => ({ raw: opencodeEntry(raw, name, hidden) }),
    };
  },
});

function opencodeEntry(raw: RawServer, name: string, hidden: readonly string[]): RawServer {
  const { command, environment, enabled, type, timeout, ...rest } = raw;
  const [program, ...args] = Array.isArray(command) ? command : [command];
  const prefix = `${name}_`;
  const excluded = hidden.flatMap((one) => {
    if (one === '*' || one === `${name}*`) return ['*'];
    return one.startsWith(prefix) ? [one.slice(prefix.length)] : [];
  });
  return {
    ...(program !== undefined && { command: program, args }),
    ...(environment !== undefined && { env: environment }),
    ...(type !== 'local' && type !== 'remote' && type !== undefined && { type }),
    ...(typeof timeout === 'number' ? { startup_timeout_ms: timeout } : { timeout }),
    ...rest,
    ...(excluded.length > 0 && { excludeTools: excluded }),
    ...(enabled === false && { disabled: true }),
  };
}

/** Continue: a list of servers in YAML, or files of other clients in a folder of the workspace. */
const continueDev: ClientSource = {
  id: 'continue',
  title: 'Continue',

  places(at) {
    const blocks = inWorkspace(at, '.continue', 'mcpServers');
    const files = at.filesIn(blocks).filter((file) => /\.(ya?ml|json)$/i.test(file));
    // The first place is the one that `client-config` writes.
    const all = new Set(['waygate.yaml', ...files]);
    return placesOf('Continue', {
      workspace: [...all].map((file) => joinPath(at, blocks, file)),
      user: inHome(at, '.continue', 'config.yaml'),
    });
  },

  parse(text, scope) {
    const root = parsedYaml(text);
    const listed = isRecord(root) ? root.mcpServers : undefined;
    const table = Array.isArray(listed) ? byName(listed) : listed;
    const path = ['mcpServers'];
    return {
      ...readServers(table, { path, references: templateReferences, scope, timeout: 'ms', normalise: continueEntry }),
      inputs: [],
    };
  },
};

function byName(list: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(list.map((one, index) => [isRecord(one) ? String(one.name ?? index) : String(index), one]));
}

function continueEntry({ name: _, requestOptions, connectionTimeout, ...raw }: RawServer): { raw: RawServer } {
  const { headers } = isRecord(requestOptions) ? requestOptions : {};
  return {
    raw: {
      ...raw,
      ...(headers !== undefined && { headers }),
      ...(connectionTimeout !== undefined && { startup_timeout_ms: connectionTimeout }),
    },
  };
}

/** Aliases that a file may expand to, against one that grows without bound. */
const MAX_ALIASES = 100;

export function parsedYaml(text: string): unknown {
  try {
    return parseYaml(text.replace(/^\ufeff/, ''), { maxAliasCount: MAX_ALIASES, logLevel: 'error' });
  } catch (error) {
    // The library's own message quotes the line, which may contain a secret.
    const place = error instanceof YAMLParseError ? error.linePos?.[0] : undefined;
    throw new UnreadableSource('it is not YAML', place?.line, place?.col);
  }
}

function ofExtension(at: Surroundings, extension: string, file: string): string[] {
  return userFolders(at).map(([, folder]) => joinPath(at, folder, 'globalStorage', extension, 'settings', file));
}

export const OTHER_CLIENTS: readonly ClientSource[] = [cline, roo, continueDev, kiro, opencode, lmStudio];

/** File names that only one of them uses. */
export const OTHER_NAMES: readonly [RegExp, ClientSource][] = [
  [/^cline_mcp_settings\.json$/, cline],
  [/^mcp_settings\.json$/, roo],
  [/^opencode\.jsonc?$/, opencode],
  [/\.ya?ml$/i, continueDev],
];
