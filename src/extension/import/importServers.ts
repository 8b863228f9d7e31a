import { join } from 'node:path';
import * as vscode from 'vscode';
import { secretKey } from '../../config/state/fileSecrets.ts';
import { stateRoot, userConfigFile } from '../../config/state/stateFolder.ts';
import { findSources, readTextIfThere } from '../../import/importFiles.ts';
import { type ImportPlan, ImportRefused, planImport } from '../../import/planImport.ts';
import { type Removal, restore } from '../../import/removeEntries.ts';
import { type Surroundings, surroundingsOf } from '../../import/surroundings.ts';
import { visibleText } from '../../text/visibleText.ts';
import { pendingApprovals } from '../approvals/approvalText.ts';
import type { Environment } from '../configuration/environment.ts';
import { CONFIGURATION_PATH } from '../contributions.ts';
import type { EditorSecrets } from '../gateway/editorSecrets.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import { t } from '../l10n.ts';
import { notificationText } from '../notificationText.ts';
import { runCommand } from '../registrations.ts';
import { notify, type Offer, onFolder, pick, pickMany } from '../windows.ts';
import { type ImportPrompts, importFlow, type Leftovers } from './importFlow.ts';
import type { Conflict, ImportItem } from './importItems.ts';

/** *Import Servers*: lists servers of other MCP clients, and previews and writes the chosen ones. */
export async function importServers(
  folder: string,
  environment: Environment,
  link: GatewayLink,
  secrets: EditorSecrets,
  userFolder: string,
  log: vscode.LogOutputChannel,
): Promise<void> {
  const { workspace, trusted } = environment.state.value;
  const file = environment.configurationFile;
  if (workspace === undefined || file === undefined) throw new Error(t`Open a folder on this machine first`);
  if (!trusted) throw new Error(t`Trust this workspace first`);
  refuseUnsaved(file.path);
  const kept: string[] = [];
  const outcome = await importFlow(file.path, surroundings(workspace, userFolder), {
    ...prompts,
    keep: async (name, value) => {
      const key = secretKey(name, workspace, stateRoot());
      if ((await secrets.answer({ op: 'get', key })).value === undefined) kept.push(key);
      await secrets.keep(key, value);
    },
  }).catch((error: unknown) => {
    if (error instanceof ImportRefused)
      return void notify('error', notificationText`${error.message}`, onFolder(folder, 'waygate.openConfiguration'));
    throw error;
  });
  if (outcome === undefined) return;
  if (outcome.report !== '') log.info(visibleText(outcome.report.trimEnd()));
  const apply = async (): Promise<void> => {
    await file.check();
    if (link.state.value.kind === 'attached') await link.refresh();
  };
  const undo = async (): Promise<void> => {
    refuseUnsaved(file.path);
    outcome.undo();
    for (const key of kept) await secrets.answer({ op: 'delete', key });
    await apply();
    if (outcome.removed.length > 0) await undoRemoval(outcome.removed);
    else await notify('info', notificationText`The import is undone.`);
  };
  const offers = [
    ...(outcome.leftovers ? [removalOffer(outcome.leftovers)] : []),
    ...(outcome.removed.length > 0 ? [undoRemovalOffer(outcome.removed)] : []),
    ...(outcome.written ? [{ title: notificationText`Undo Import`, run: () => reported(undo) }] : []),
    'waygate.showLog' as const,
  ];
  void notify('info', outcome.message, ...offers);
  if (!outcome.written) return;
  await apply();
  const waiting = pendingApprovals(await link.status()).some(({ name }) => outcome.added.includes(name));
  if (waiting) await runCommand('waygate.approveServers', folder);
}

/** A longer button would be cut. */
const MAX_NAMED = 2;

/** Offers to remove the entries with which other clients start the same servers. */
function removalOffer({ clients, remove }: Leftovers): Offer {
  const run = async (): Promise<void> => {
    const removed = await remove();
    if (removed.length === 0) return;
    const files = removed.map(({ source }) => source.file).join(', ');
    await notify(
      'info',
      notificationText`Removed from ${files}. A backup is beside each file.`,
      undoRemovalOffer(removed),
    );
  };
  return { title: notificationText`Remove from ${clients.slice(0, MAX_NAMED).join(', ')}…`, run: () => reported(run) };
}

function undoRemovalOffer(removed: readonly Removal[]): Offer {
  return { title: notificationText`Undo Removal`, run: () => undoRemoval(removed) };
}

/** Runs the work of a button, whose error nobody else shows. */
async function reported(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    await notify('error', notificationText`${(error as Error).message}`);
  }
}

async function undoRemoval(removed: readonly Removal[]): Promise<void> {
  const flaws = removed.flatMap((removal) => {
    try {
      restore(removal);
      return [];
    } catch (error) {
      return [(error as Error).message, ...(removal.backup ? [t`The entries are in ${removal.backup}.`] : [])];
    }
  });
  if (flaws.length > 0) await notify('error', notificationText`${flaws.join(' ')}`);
  else await notify('info', notificationText`The removed entries are back.`);
}

/** Returns the names of the servers that VS Code starts itself although the gateway has them. */
export function directDuplicates(file: string, workspace: string, userFolder: string): string[] {
  const at = surroundings(workspace, userFolder);
  const own = new Set([join(workspace, '.vscode', 'mcp.json'), join(userFolder, 'mcp.json')]);
  const sources = findSources(at, ['vscode']).sources.filter((source) => own.has(source.file));
  const names = [file, userConfigFile()].flatMap((one) => {
    const current = readTextIfThere(one, one === file ? workspace : undefined);
    const { servers } = planImport({ file: one, current, workspace, env: at.env, sources });
    return servers.filter(({ outcome, disabled }) => outcome === 'present' && !disabled).map(({ name }) => name);
  });
  return [...new Set(names)].sort();
}

function surroundings(workspace: string, userFolder: string): Surroundings {
  return { ...surroundingsOf(workspace, process.env), editorFolder: userFolder };
}

/** Rejects a file with unsaved changes: the next save would overwrite the import, or the import the edit. */
function refuseUnsaved(path: string): void {
  if (isUnsaved(path)) throw new Error(t`Save ${CONFIGURATION_PATH} first`);
}

function isUnsaved(path: string): boolean {
  const open = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'file' && uri.fsPath === path);
  return open?.isDirty === true;
}

const prompts: Omit<ImportPrompts, 'keep'> = { choose, resolve, confirm, remove };

async function choose(items: readonly ImportItem[]): Promise<ReadonlySet<string> | undefined> {
  const chosen = await pickMany(items, {
    title: notificationText`Import Servers into ${CONFIGURATION_PATH}`,
    placeHolder: notificationText`Which servers should Waygate manage?`,
    ignoreFocusOut: true,
    matchOnDescription: true,
  });
  return chosen && new Set(chosen.map(({ key }) => key));
}

async function resolve({ name, free, source }: Conflict): ReturnType<ImportPrompts['resolve']> {
  const answers = [
    { label: notificationText`Keep both, the new one as "${free}"`, answer: 'keep both' as const },
    { label: notificationText`Replace "${name}" with the one from ${source}`, answer: 'replace' as const },
    { label: notificationText`Skip the new one`, answer: 'leave out' as const },
  ];
  const choice = await pick(answers, {
    title: notificationText`Another server is called "${name}"`,
    ignoreFocusOut: true,
  });
  return choice?.answer;
}

const PREVIEW_SCHEME = 'waygate-import';
/** The editor caches a virtual document by its address, so each preview gets its own. */
let previews = 0;

async function confirm(plan: ImportPlan): Promise<boolean> {
  const texts: Record<string, string> = { before: plan.before ?? '', after: plan.after };
  const provider = vscode.workspace.registerTextDocumentContentProvider(PREVIEW_SCHEME, {
    provideTextDocumentContent: (uri) => texts[uri.fragment] ?? '',
  });
  previews += 1;
  const query = String(previews);
  const side = (fragment: string): vscode.Uri =>
    vscode.Uri.from({ scheme: PREVIEW_SCHEME, path: `/${CONFIGURATION_PATH}`, query, fragment });
  try {
    const left = plan.before === undefined ? side('before') : vscode.Uri.file(plan.file);
    const right = side('after');
    await vscode.commands.executeCommand('vscode.diff', left, right, t`Import Servers: Preview`);
    const write = {
      label: notificationText`Write ${CONFIGURATION_PATH}`,
      description: notificationText`with the changes shown`,
    };
    const cancel = { label: notificationText`Cancel`, description: notificationText`write nothing` };
    const choice = await pick([write, cancel], {
      title: notificationText`Import Servers`,
      placeHolder: notificationText`The comparison shows what would change`,
      ignoreFocusOut: true,
    });
    await closePreview(right);
    return choice === write;
  } finally {
    provider.dispose();
  }
}

async function remove(removals: readonly Removal[]): ReturnType<ImportPrompts['remove']> {
  // An edit in the editor would bring the entries back, or lose itself.
  const rows = removals
    .filter(({ source }) => !isUnsaved(source.file))
    .map((removal) => {
      const { source, removed } = removal;
      const isShared = source.scope === 'user';
      return {
        label: notificationText`${source.title}: ${removed.map(({ name }) => name).join(', ')}`,
        description: notificationText`${source.file}`,
        detail: isShared ? notificationText`your own file: other folders lose them too` : notificationText`${''}`,
        // Another folder may have no gateway that starts them.
        picked: !isShared,
        removal,
      };
    });
  if (rows.length === 0) return undefined;
  const chosen = await pickMany(rows, {
    title: notificationText`Remove These Entries (backup kept)`,
    placeHolder: notificationText`These clients still start the servers themselves`,
    ignoreFocusOut: true,
  });
  return chosen?.map(({ removal }) => removal);
}

async function closePreview(uri: vscode.Uri): Promise<void> {
  const tabs = vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .filter(({ input }) => input instanceof vscode.TabInputTextDiff && input.modified.toString() === uri.toString());
  if (tabs.length > 0) await vscode.window.tabGroups.close(tabs);
}
