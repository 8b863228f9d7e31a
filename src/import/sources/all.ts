import { basename } from 'node:path';
import type { ClientId } from '../clientIds.ts';
import { type ClientSource, keysOf, parseJson } from '../sourceFile.ts';
import { claudeCode } from './claudeCode.ts';
import { claudeDesktop } from './claudeDesktop.ts';
import { codex } from './codex.ts';
import { copilotCli } from './copilotCli.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import { vscode } from './vscode.ts';
import { windsurf } from './windsurf.ts';
import { zed } from './zed.ts';

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
];

export function clientSource(id: ClientId): ClientSource {
  return CLIENT_SOURCES.find((source) => source.id === id) as ClientSource;
}

/** File names that only one client uses. */
const BY_NAME: readonly [RegExp, ClientSource][] = [
  [/\.toml$/i, codex],
  [/^\.mcp\.json$|^\.claude\.json$/, claudeCode],
  [/^claude_desktop_config\.json$/, claudeDesktop],
  [/^mcp_config\.json$/, windsurf],
  [/^mcp-config\.json$/, copilotCli],
];

/** Determines the client format of a file that the user names: by its name, else by its folder, else by its keys. */
export function sourceOfFile(file: string, text: string): ClientSource {
  const name = basename(file.replaceAll('\\', '/'));
  const named = BY_NAME.find(([pattern]) => pattern.test(name));
  if (named) return named[1];
  if (/[\\/]\.cursor[\\/]/.test(file)) return cursor;
  if (/[\\/]\.gemini[\\/]/.test(file)) return gemini;
  const keys = keysOf(parseJson(text));
  if (keys.includes('context_servers')) return zed;
  if (keys.includes('servers')) return vscode;
  // Claude Code's reader understands both `${NAME}` and `${env:NAME}`.
  return claudeCode;
}
