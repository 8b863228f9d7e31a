import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify as tomlText } from 'smol-toml';
import { stringify as yamlText } from 'yaml';
import type { GatewayTarget } from '../../host/attach/startWorker.ts';
import type { ClientId } from '../../import/clientIds.ts';
import type { ClientConfigCommand } from '../commands.ts';
import { jsonText, print, printNext } from '../print.ts';
import { ownTerminal } from '../terminal.ts';
import { writeClientConfig } from './setup/writeClientConfig.ts';

/** Command with which a client starts a server over stdio. */
export interface Launch {
  command: string;
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
}

/** Entry that a client needs, in the client's own format, and the file for it. */
interface ClientForm {
  file: string;
  render(name: string, launch: Launch): string;
}

const SERVER_NAME = 'waygate';

const json = (value: object): string => jsonText(value);
const under =
  (key: string, before: object = {}, after: object = {}) =>
  (name: string, { command, args, env }: Launch): string =>
    json({ [key]: { [name]: { ...before, command, args, ...(env && { env }), ...after } } });

const FORMS: Readonly<Record<ClientId, ClientForm>> = {
  vscode: {
    file: '.vscode/mcp.json (the Waygate extension needs no entry)',
    render: under('servers', { type: 'stdio' }),
  },
  'claude-code': { file: '.mcp.json', render: under('mcpServers', { type: 'stdio' }) },
  'claude-desktop': { file: 'claude_desktop_config.json', render: under('mcpServers') },
  cursor: { file: '.cursor/mcp.json', render: under('mcpServers') },
  windsurf: { file: '~/.codeium/windsurf/mcp_config.json', render: under('mcpServers') },
  codex: {
    file: '~/.codex/config.toml',
    render: (name, { command, args, env }) =>
      `${tomlText({ mcp_servers: { [name]: { command, args: [...args], ...(env && { env }) } } }).trim()}\n`,
  },
  gemini: { file: '.gemini/settings.json', render: under('mcpServers') },
  zed: { file: 'the settings.json of Zed', render: under('context_servers') },
  'copilot-cli': {
    file: '~/.copilot/mcp-config.json',
    render: under('mcpServers', { type: 'local' }, { tools: ['*'] }),
  },
  cline: { file: 'cline_mcp_settings.json (in Cline: MCP Servers, Configure)', render: under('mcpServers') },
  roo: { file: '.roo/mcp.json', render: under('mcpServers') },
  continue: {
    file: '.continue/mcpServers/waygate.yaml',
    render: (name, { command, args, env }) =>
      yamlText({
        ...{ name, version: '0.0.1', schema: 'v1' },
        mcpServers: [{ name, command, args, ...(env && { env }) }],
      }),
  },
  kiro: { file: '.kiro/settings/mcp.json', render: under('mcpServers') },
  opencode: {
    file: './opencode.json (version 2; version 1 has the entry directly under "mcp")',
    render: (name, { command, args, env }) =>
      json({
        mcp: { servers: { [name]: { type: 'local', command: [command, ...args], ...(env && { environment: env }) } } },
      }),
  },
  'lm-studio': { file: '~/.lmstudio/mcp.json', render: under('mcpServers') },
};

export function clientConfigText(client: ClientId, launch: Launch, name: string = SERVER_NAME): string {
  return FORMS[client].render(name, launch);
}

/** The running program, as another program has to start it. */
export interface OwnProgram {
  script: string;
  nodePath: string;
  platform: NodeJS.Platform;
  /** True in the editor, whose own Node is Electron. */
  isElectron: boolean;
}

export function ownLaunch(
  { workspace, configFile, catalog }: GatewayTarget,
  { script, nodePath, platform, isElectron }: OwnProgram,
): Launch {
  const option = configFile === undefined ? '--catalog' : '--config';
  const file = configFile ?? catalog;
  const given = file === undefined ? [] : [option, file];
  const serve = ['serve', '--workspace', workspace, ...given];
  if (isFromRegistry(script)) {
    const npx = ['-y', 'waygate', ...serve];
    // On Windows npx is a batch file, and not every client can start those.
    return platform === 'win32' ? { command: 'cmd', args: ['/c', 'npx', ...npx] } : { command: 'npx', args: npx };
  }
  return {
    command: nodePath,
    args: [script, ...serve],
    ...(isElectron && { env: { ELECTRON_RUN_AS_NODE: '1' } }),
  };
}

/**
 * Recognises a program that npx fetched from the registry: npx's cache moves, so the entry names the package. A packed
 * file that was installed by hand has a lasting path, and npm may not know the package.
 */
function isFromRegistry(script: string): boolean {
  const [, cache] = /^(.*[\\/]_npx[\\/][^\\/]+)[\\/]node_modules[\\/]waygate[\\/]dist[\\/]/.exec(script) ?? [];
  if (cache === undefined) return false;
  try {
    const { dependencies } = JSON.parse(readFileSync(join(cache, 'package.json'), 'utf8'));
    return /^[\^~]?\d/.test(dependencies.waygate);
  } catch {
    return false;
  }
}

/** Prints the entry that a client needs to use Waygate for this workspace, or writes it. Only the entry goes to stdout. */
export async function clientConfig(command: ClientConfigCommand): Promise<number> {
  const { client, json, write } = command;
  const launch = ownLaunch(command, {
    script: join(__dirname, 'waygate.cjs'),
    nodePath: process.execPath,
    platform: process.platform,
    isElectron: process.versions.electron !== undefined,
  });
  const { file } = FORMS[client];
  const entry = clientConfigText(client, launch);
  if (write) return writeClientConfig(command, { entry, file }, process.env, ownTerminal());
  print(json, { client, file, entry, launch }, entry);
  printNext(
    json,
    `add this to ${file}; keep the entries that are already there. Or: waygate client-config ${client} --write`,
  );
  return 0;
}
