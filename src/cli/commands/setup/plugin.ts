import { spawn } from 'node:child_process';
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { stateRoot } from '../../../config/state/stateFolder.ts';
import { VERSION } from '../../../lib/build.ts';
import { findProgram } from '../../../lib/findProgram.ts';
import { makeFolder } from '../../../lib/makeFolder.ts';
import { writeWhole } from '../../../lib/writeWhole.ts';
import { oneLine } from '../../../text/porcelain.ts';
import type { PluginCommand } from '../../commands.ts';
import { jsonText, print, printNext } from '../../print.ts';

/** Name of the plugin, of its MCP server, and of the marketplace that has nothing else. */
const NAME = 'waygate';
const SCHEMAS = 'https://agent-plugins.org/schemas/1.0.0';
const DESCRIPTION = 'One MCP server in front of all your MCP servers: three tools that find, run and read everything.';
/** Parts of the product that only the editor loads, and the skill, which has a place of its own in the plugin. */
const NOT_IN_A_PLUGIN = /^(?:extension|editor.*)\.cjs$|^(?:webview|skills|test)$/;

/** Commands of the clients' own programs. The plugin's folder is a marketplace with one entry. */
const INSTALLS = {
  'copilot-cli': {
    program: 'copilot',
    steps: (folder: string) => [
      ['plugin', 'marketplace', 'add', folder],
      ['plugin', 'install', `${NAME}@${NAME}`],
    ],
  },
  codex: {
    program: 'codex',
    steps: (folder: string) => [
      ['plugin', 'marketplace', 'add', folder],
      ['plugin', 'add', `${NAME}@${NAME}`],
    ],
  },
} as const;

/** Builds Waygate as an Agent Plugin, and installs it with the client's own program. */
export async function plugin({ client, into, json }: PluginCommand): Promise<number> {
  const folder = into ?? join(stateRoot(), 'plugin');
  buildPlugin(__dirname, folder, { moves: into !== undefined && client === undefined });
  if (client === undefined) {
    print(json, { folder }, `Built the plugin in ${folder}.\n`);
    printNext(json, 'waygate plugin install copilot-cli, codex or vscode.');
    return 0;
  }
  if (client === 'vscode') {
    const settings = { 'chat.pluginLocations': { [join(folder, NAME)]: true } };
    print(json, { folder, settings }, `Add this to the settings of VS Code:\n${jsonText(settings)}`);
    printNext(json, 'reload the window. The Waygate extension needs no plugin; use one of the two.');
    return 0;
  }
  const { program, steps } = INSTALLS[client];
  const commands = steps(folder);
  const found = findProgram(program, { cwd: process.cwd(), path: process.env.PATH });
  if (found === undefined) {
    const line = commands.map((args) => [program, ...args].join(' ')).join(' && ');
    throw new Error(`${program} is not on the PATH. Where it is, run: ${line}`);
  }
  for (const args of commands) await run(found, args);
  print(json, { client, folder }, `Installed the plugin ${NAME} in ${client}, from ${folder}.\n`);
  printNext(json, `start ${program} in a project, and ask it for something.`);
  return 0;
}

/**
 * Writes the plugin. A folder with anything but a plugin of ours is refused, because the old one is removed. `moves`: the
 * plugin may be copied to another place. One that stays has the path of its program, because VS Code 1.139 replaces no
 * placeholder in this format.
 */
export function buildPlugin(program: string, folder: string, { moves }: { moves: boolean }): void {
  const root = join(folder, NAME);
  const others = existsSync(folder)
    ? readdirSync(folder).filter((name) => ![NAME, '.claude-plugin'].includes(name))
    : [];
  if (others.length > 0 || (existsSync(root) && !existsSync(join(root, 'plugin.json')))) {
    throw new Error(`${folder} has other files; name an empty folder with --into.`);
  }
  rmSync(root, { recursive: true, force: true });
  makeFolder(join(root, 'skills'));
  makeFolder(join(folder, '.claude-plugin'));
  const isShipped = (path: string): boolean => dirname(path) !== program || !NOT_IN_A_PLUGIN.test(basename(path));
  cpSync(program, join(root, 'program'), { recursive: true, filter: isShipped });
  cpSync(join(program, 'skills'), join(root, 'skills'), { recursive: true });
  const license = join(dirname(program), 'LICENSE');
  if (existsSync(license)) cpSync(license, join(root, 'LICENSE'));
  const identity = { name: NAME, version: VERSION, description: DESCRIPTION };
  const file = moves ? `\${PLUGIN_ROOT}/program/waygate.cjs` : join(root, 'program', 'waygate.cjs');
  const args = [file, 'serve'];
  const entries: readonly [string, object][] = [
    [join(root, 'plugin.json'), { $schema: `${SCHEMAS}/plugin.schema.json`, ...identity, license: 'Apache-2.0' }],
    [
      join(root, 'mcp.json'),
      { $schema: `${SCHEMAS}/mcp.schema.json`, mcpServers: { [NAME]: { type: 'stdio', command: 'node', args } } },
    ],
    [
      join(folder, '.claude-plugin', 'marketplace.json'),
      { name: NAME, owner: { name: 'Waygate' }, plugins: [{ ...identity, source: `./${NAME}` }] },
    ],
  ];
  for (const [path, content] of entries) writeWhole(path, jsonText(content));
}

async function run(program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('close', resolve));
  const [out, error, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (code === 0 || /already (?:added|installed|exists|registered)/i.test(`${out}${error}`)) return;
  throw new Error(`${basename(program)} ${args.join(' ')} failed: ${oneLine(error || out, 300)}`);
}
