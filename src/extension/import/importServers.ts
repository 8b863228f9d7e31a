import * as vscode from 'vscode';
import { secretKey } from '../../config/state/fileSecrets.ts';
import { stateRoot } from '../../config/state/stateFolder.ts';
import { type ImportPlan, ImportRefused } from '../../import/planImport.ts';
import { surroundingsOf } from '../../import/surroundings.ts';
import { visibleText } from '../../text/visibleText.ts';
import type { Environment } from '../configuration/environment.ts';
import { CONFIGURATION_PATH } from '../contributions.ts';
import type { EditorSecrets } from '../gateway/editorSecrets.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import { notificationText } from '../notificationText.ts';
import { notify, pick, pickMany } from '../windows.ts';
import { type ImportPrompts, importFlow } from './importFlow.ts';
import type { Conflict, ImportItem } from './importItems.ts';

/** *Import Servers*: lists servers of other MCP clients, and previews and writes the chosen ones. */
export async function importServers(
  environment: Environment,
  link: GatewayLink,
  secrets: EditorSecrets,
  log: vscode.LogOutputChannel,
): Promise<void> {
  const { workspace, trusted } = environment.state.value;
  const file = environment.configurationFile;
  if (workspace === undefined || file === undefined) throw new Error('Open a folder on this machine first');
  if (!trusted) throw new Error('Trust this workspace first');
  refuseUnsaved(file.path);
  const outcome = await importFlow(file.path, surroundingsOf(workspace, process.env), {
    ...prompts,
    keep: (name, value) => secrets.keep(secretKey(name, workspace, stateRoot()), value),
  }).catch((error: unknown) => {
    if (error instanceof ImportRefused)
      return void notify('error', notificationText`${error.message}`, 'waygate.openConfiguration');
    throw error;
  });
  if (outcome === undefined) return;
  if (outcome.report !== '') log.info(visibleText(outcome.report.trimEnd()));
  if (outcome.written) {
    await file.check();
    if (link.state.value.kind === 'attached') await link.refresh();
  }
  const offers = outcome.written
    ? (['waygate.openConfiguration', 'waygate.showLog'] as const)
    : (['waygate.showLog'] as const);
  void notify('info', outcome.message, ...offers);
}

/** Rejects a file with unsaved changes: the next save would overwrite the import, or the import the edit. */
function refuseUnsaved(path: string): void {
  const open = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'file' && uri.fsPath === path);
  if (open?.isDirty) throw new Error(`Save ${CONFIGURATION_PATH} first`);
}

const prompts: Omit<ImportPrompts, 'keep'> = { choose, resolve, confirm };

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
    await vscode.commands.executeCommand('vscode.diff', left, right, 'Import Servers: Preview');
    const write = {
      label: notificationText`Write ${CONFIGURATION_PATH}`,
      description: notificationText`with the changes shown`,
    };
    const cancel = { label: notificationText`Cancel`, description: notificationText`write nothing` };
    const choice = await pick([write, cancel], { title: notificationText`Import Servers`, ignoreFocusOut: true });
    await closePreview(right);
    return choice === write;
  } finally {
    provider.dispose();
  }
}

async function closePreview(uri: vscode.Uri): Promise<void> {
  const tabs = vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .filter(({ input }) => input instanceof vscode.TabInputTextDiff && input.modified.toString() === uri.toString());
  if (tabs.length > 0) await vscode.window.tabGroups.close(tabs);
}
