import { basename } from 'node:path';
import { isRecord } from '../../lib/isRecord.ts';
import type { ClientId } from '../clientIds.ts';
import type { RawServer } from '../readEntry.ts';
import { bareReferences, editorReferences, noReferences } from '../references.ts';
import { type ClientSource, jsonClient, keysOf, parseJson, valueAt } from '../sourceFile.ts';
import { applicationData, inHome, inWorkspace, joinPath, movable } from '../surroundings.ts';
import { claudeCode } from './claudeCode.ts';
import { codex } from './codex.ts';
import { OTHER_CLIENTS, OTHER_NAMES } from './others.ts';
import { vscode } from './vscode.ts';

const cursor = jsonClient({
  id: 'cursor',
  title: 'Cursor',
  files: (at) => ({ workspace: inWorkspace(at, '.cursor', 'mcp.json'), user: inHome(at, '.cursor', 'mcp.json') }),
  table: () => ({ path: ['mcpServers'], references: editorReferences }),
});

/** Copilot CLI: `type: "local"` means stdio. */
const copilotCli = jsonClient({
  id: 'copilot-cli',
  title: 'Copilot CLI',
  files: (at) => ({
    workspace: inWorkspace(at, '.github', 'mcp.json'),
    user: movable(at, 'COPILOT_HOME', ['.copilot'], 'mcp-config.json'),
  }),
  table: () => ({ path: ['mcpServers'], references: bareReferences, timeout: 'ms' }),
});

/** Gemini CLI: `httpUrl` is Streamable HTTP; `mcp` switches servers on and off. */
const gemini = jsonClient({
  id: 'gemini',
  title: 'Gemini CLI',
  files: (at) => ({
    workspace: inWorkspace(at, '.gemini', 'settings.json'),
    user: inHome(at, '.gemini', 'settings.json'),
  }),

  table(root) {
    const excluded = listAt(valueAt(root, ['mcp', 'excluded']));
    const allowed = listAt(valueAt(root, ['mcp', 'allowed']));
    const isOff = (name: string): boolean => excluded?.includes(name) || (allowed ? !allowed.includes(name) : false);
    const normalise = ({ httpUrl, ...raw }: RawServer, name: string) => ({
      raw: {
        ...(httpUrl === undefined ? raw : { ...raw, type: 'http', url: httpUrl }),
        ...(isOff(name) && { disabled: true }),
      },
    });
    return { path: ['mcpServers'], references: bareReferences, normalise, silent: ['description'], timeout: 'ms' };
  },
});

function listAt(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) ? value : undefined;
}

/** Zed: `context_servers`, whose command may be an object (older form), and some of which come from extensions. */
const zed = jsonClient({
  id: 'zed',
  title: 'Zed',
  files: (at) => ({
    workspace: inWorkspace(at, '.zed', 'settings.json'),
    user:
      at.platform === 'win32'
        ? joinPath(at, applicationData(at), 'Zed', 'settings.json')
        : joinPath(at, at.env.XDG_CONFIG_HOME || inHome(at, '.config'), 'zed', 'settings.json'),
  }),
  table: () => ({ path: ['context_servers'], references: noReferences, normalise: zedEntry, silent: ['source'] }),
});

function zedEntry({ enabled, command, ...rest }: RawServer): { raw: RawServer } | string {
  if (rest.source === 'extension' || (command === undefined && rest.url === undefined && 'settings' in rest)) {
    return 'it belongs to a Zed extension, which does not reveal its command';
  }
  const disabled = enabled === false ? { disabled: true } : {};
  if (!isRecord(command)) return { raw: { ...(command !== undefined && { command }), ...rest, ...disabled } };
  const { path, ...parts } = command;
  return { raw: { command: path, ...parts, ...rest, ...disabled } };
}

/** Windsurf names a server's URL `serverUrl`. */
const windsurf = jsonClient({
  id: 'windsurf',
  title: 'Windsurf',
  files: (at) => ({ user: inHome(at, '.codeium', 'windsurf', 'mcp_config.json') }),
  table: () => ({ path: ['mcpServers'], references: editorReferences, normalise: windsurfEntry }),
});

function windsurfEntry({ serverUrl, ...raw }: RawServer): { raw: RawServer } {
  return { raw: serverUrl === undefined ? raw : { ...raw, url: serverUrl } };
}

const claudeDesktop = jsonClient({
  id: 'claude-desktop',
  title: 'Claude Desktop',
  files: (at) => ({ user: joinPath(at, applicationData(at), 'Claude', 'claude_desktop_config.json') }),
  table: () => ({ path: ['mcpServers'], references: noReferences }),
});

/** All clients whose files can be read, the closest to the workspace first. */
export const CLIENT_SOURCES: readonly ClientSource[] = [
  vscode,
  claudeCode,
  cursor,
  copilotCli,
  codex,
  gemini,
  zed,
  windsurf,
  claudeDesktop,
  ...OTHER_CLIENTS,
];

export function clientSource(id: ClientId): ClientSource {
  return CLIENT_SOURCES.find((source) => source.id === id) as ClientSource;
}

/** Folders that only one client uses. */
const BY_FOLDER: Readonly<Record<string, ClientId>> = {
  '.cursor': 'cursor',
  '.gemini': 'gemini',
  '.roo': 'roo',
  '.kiro': 'kiro',
  '.continue': 'continue',
  '.lmstudio': 'lm-studio',
  '.opencode': 'opencode',
};

/** File names that only one client uses. */
const BY_NAME: readonly [RegExp, ClientSource][] = [
  [/\.toml$/i, codex],
  [/^\.mcp\.json$|^\.claude\.json$/, claudeCode],
  [/^claude_desktop_config\.json$/, claudeDesktop],
  [/^mcp_config\.json$/, windsurf],
  [/^mcp-config\.json$/, copilotCli],
  ...OTHER_NAMES,
];

/** Determines the client format of a file that the user names: by its name, else by its folder, else by its keys. */
export function sourceOfFile(file: string, text: string): ClientSource {
  const name = basename(file.replaceAll('\\', '/'));
  const named = BY_NAME.find(([pattern]) => pattern.test(name));
  if (named) return named[1];
  const folder = file.split(/[\\/]/).find((part) => Object.hasOwn(BY_FOLDER, part));
  if (folder !== undefined) return clientSource(BY_FOLDER[folder] as ClientId);
  const keys = keysOf(parseJson(text));
  if (keys.includes('context_servers')) return zed;
  if (keys.includes('servers')) return vscode;
  // Claude Code's reader understands both `${NAME}` and `${env:NAME}`.
  return claudeCode;
}
