import { realpathSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { visibleText } from './visibleText.ts';

/** Schemes by which an editor, a browser or the system runs something or speaks to another program. */
const EXECUTABLE =
  /^(?:command|javascript|vbscript|livescript|mocha|data(?!:\/\/)|blob|view-source|mhtml|jar|shell|search-ms|intent|vscode|vscodium|code-oss|cursor|windsurf|void|antigravity|positron|kiro|trae|zed|idea|jetbrains|pycharm|webstorm|phpstorm|goland|rider|clion|rubymine|subl|txmt|x-github-client|sourcetree|gitkraken|ms|x-apple|itms|chrome|microsoft-edge|moz-extension|steam|ssh|telnet|ldap|smb|warp|iterm2|x-man-page|raycast|applescript|hcp|devenv|powershell|wyciwyg|docker-desktop|github-mac)(?:-[a-z0-9+.-]*)?:/;
const HIERARCHICAL = /^(?:[a-z][a-z0-9+.-]*:\/\/|urn:)/;

/** Returns whether an address of a server would run something where a client opens it. */
export function isExecutable(address: string): boolean {
  return EXECUTABLE.test(
    address
      .normalize('NFKC')
      .replace(/[\s\p{C}]/gu, '')
      .toLowerCase(),
  );
}

/**
 * Returns whether a client may show an address of a server as a link. An address without "//" can begin a command in
 * any program, and a file outside of the workspace is not the server's to open.
 */
export function isLinkable(address: string, workspace: string | undefined): boolean {
  if (visibleText(address) !== address || /\s/.test(address) || isExecutable(address)) return false;
  const scheme = HIERARCHICAL.exec(address.toLowerCase())?.[0];
  return scheme === 'file://' ? isWithin(address, workspace) : scheme !== undefined;
}

function isWithin(address: string, workspace: string | undefined): boolean {
  if (workspace === undefined) return false;
  try {
    const [file, folder] = [fileURLToPath(address), resolve(workspace)].map(realPath) as [string, string];
    return file === folder || file.startsWith(folder + sep);
  } catch {
    // The address names another machine, or no file.
    return false;
  }
}

/** Follows links as far as the path exists. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = resolve(path, '..');
    return parent === path ? path : resolve(realPath(parent), path.slice(parent.length).replace(/^[\\/]+/, ''));
  }
}
