import { lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { cacheRoot, stateRoot } from '../../../config/state/stateFolder.ts';
import { endHungWorker } from '../../../host/attach/endWorker.ts';
import { CLIENT_IDS } from '../../../import/clientIds.ts';
import { BACKUP_SUFFIX, findSources, placesOf } from '../../../import/importFiles.ts';
import { shownPath } from '../../../import/planImport.ts';
import { isWaygate } from '../../../import/sameServer.ts';
import { type Surroundings, surroundingsOf } from '../../../import/surroundings.ts';
import { readRendezvous } from '../../../link/rendezvous.ts';
import { count } from '../../../text/porcelain.ts';
import type { UninstallCommand } from '../../commands.ts';
import { jsonText, printNext, problemLine } from '../../print.ts';
import type { Terminal } from '../../terminal.ts';

/**
 * Contents of the state folder, and files that a killed process has left half written. The folder may also hold the
 * user's `waygate.json`, or be shared by a mistake.
 */
const IN_STATE =
  /^(?:workspaces|tokens|run|plugin|compile-cache|(?:secrets\.json|approvals\.(?:json|key)|trust\.jsonl(?:\.lock)?)(?:\.\d+\.[0-9a-f]{8}\.new)?)$/;
const PLUGIN = 'plugin';

interface Leftovers {
  state: readonly string[];
  cache: readonly string[];
  backups: readonly string[];
  /** Entries that make a client start Waygate. */
  clients: readonly string[];
}

/** Lists what Waygate keeps outside of workspaces, asks, and removes it. Configurations of the user stay. */
export async function uninstall(
  { workspace, yes, json }: UninstallCommand,
  env: NodeJS.ProcessEnv,
  { out, err, interactive, confirm }: Terminal,
): Promise<number> {
  const root = stateRoot(env);
  const found = leftoversOf(surroundingsOf(workspace, env), root, env);
  const all = [...found.state, ...found.cache, ...found.backups];
  const report = (removed: boolean): void => out(json ? jsonText({ ...found, removed }) : '');
  if (!json) out(listOf(found));
  if (all.length === 0) {
    report(false);
    return 0;
  }
  const mayAsk = interactive && !json;
  if (
    !yes &&
    !(mayAsk && (await confirm(`Remove ${count(all.length, 'file or folder', 'files and folders')}?`, false)))
  ) {
    report(false);
    const remedy = mayAsk ? '' : ', because nobody can be asked here; --yes removes without a question';
    err(problemLine(`nothing was removed${remedy}.`));
    return 1;
  }
  await endGateways(join(root, 'workspaces'));
  for (const path of all) rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  removeIfEmpty(root);
  const again = all.filter(isThere);
  report(again.length === 0);
  if (again.length > 0) {
    err(
      problemLine(
        `${again.join(', ')} is in use; close your MCP clients and editors, and run waygate uninstall again.`,
      ),
    );
    return 1;
  }
  if (!json) out(`Removed ${count(all.length, 'file or folder', 'files and folders')}.\n`);
  const plugins = found.state.some((path) => basename(path) === PLUGIN)
    ? ' Clients that have the plugin "waygate" need it removed with their own command.'
    : '';
  printNext(
    json,
    `npm uninstall -g waygate, and in VS Code uninstall the extension, which keeps secrets of its own.${plugins}`,
  );
  return 0;
}

function leftoversOf(at: Surroundings, root: string, env: NodeJS.ProcessEnv): Leftovers {
  const cache = cacheRoot(env);
  const files = [...new Set(placesOf(at, CLIENT_IDS))];
  return {
    state: namesIn(root)
      .filter((name) => IN_STATE.test(name))
      .map((name) => join(root, name)),
    cache: isThere(cache) ? [cache] : [],
    backups: files.flatMap((file) =>
      namesIn(dirname(file))
        .filter((name) => name.startsWith(basename(file) + BACKUP_SUFFIX))
        .map((name) => join(dirname(file), name)),
    ),
    clients: findSources(at, CLIENT_IDS).sources.flatMap(({ file, parsed }) =>
      parsed.servers.filter(({ entry }) => isWaygate(entry)).map(({ path }) => `${shownPath(file, path)} in ${file}`),
    ),
  };
}

function listOf({ state, cache, backups, clients }: Leftovers): string {
  const part = (title: string, lines: readonly string[]): string =>
    lines.length === 0 ? '' : `${title}\n${lines.map((line) => `  ${line}\n`).join('')}`;
  const text = [
    part('State: approvals, pins, secrets, sign-ins, kept results and logs of all workspaces', state),
    part('Cache: folders of walled servers; VS Code builds and the demo of npm start', cache),
    part('Backups, which have the entries that import or client-config changed; copy back what you need', backups),
    part('These entries still start Waygate; delete them by hand', clients),
  ].join('');
  return text === '' ? 'Waygate keeps nothing on this machine.\n' : text;
}

async function endGateways(workspaces: string): Promise<void> {
  for (const name of namesIn(workspaces)) {
    const folder = join(workspaces, name);
    const worker = readRendezvous(folder);
    if (worker) await endHungWorker(worker, folder);
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // The folder has other contents, or never existed.
  }
}
