import * as vscode from 'vscode';
import { secretKey } from '../../config/state/fileSecrets.ts';
import { stateRoot } from '../../config/state/stateFolder.ts';
import { type ImportPlan, ImportRefused } from '../../import/planImport.ts';
import { surroundingsOf } from '../../import/surroundings.ts';
import { oneLine, quoted } from '../../text/porcelain.ts';
import { visibleText } from '../../text/visibleText.ts';
import type { Environment } from '../configuration/environment.ts';
import { COMMANDS, CONFIGURATION_PATH } from '../contributions.ts';
import type { EditorSecrets } from '../gateway/editorSecrets.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import { runCommand } from '../registrations.ts';
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
    if (error instanceof ImportRefused) return void offerRepair(error);
    throw error;
  });
  if (outcome === undefined) return;
  if (outcome.report !== '') log.info(visibleText(outcome.report.trimEnd()));
  if (outcome.written) {
    await file.check();
    if (link.state.value.kind === 'attached') await link.refresh();
  }
  void showOutcome(outcome.message, outcome.written);
}

/** Rejects a file with unsaved changes: the next save would overwrite the import, or the import the edit. */
function refuseUnsaved(path: string): void {
  const open = vscode.workspace.textDocuments.find(({ uri }) => uri.scheme === 'file' && uri.fsPath === path);
  if (open?.isDirty) throw new Error(`Save ${CONFIGURATION_PATH} first`);
}

async function offerRepair({ message }: ImportRefused): Promise<void> {
  const { title } = COMMANDS['waygate.openConfiguration'];
  if ((await vscode.window.showErrorMessage(message, title)) === title) await runCommand('waygate.openConfiguration');
}

async function showOutcome(message: string, written: boolean): Promise<void> {
  const [open, log] = [COMMANDS['waygate.openConfiguration'].title, COMMANDS['waygate.showLog'].title];
  const choice = await vscode.window.showInformationMessage(message, ...(written ? [open, log] : [log]));
  if (choice === open) await runCommand('waygate.openConfiguration');
  if (choice === log) await runCommand('waygate.showLog');
}

const prompts: Omit<ImportPrompts, 'keep'> = { choose, resolve, confirm };

async function choose(items: readonly ImportItem[]): Promise<ReadonlySet<string> | undefined> {
  const chosen = await vscode.window.showQuickPick([...items], {
    title: `Import Servers into ${CONFIGURATION_PATH}`,
    placeHolder: 'Which servers should Waygate manage?',
    canPickMany: true,
    ignoreFocusOut: true,
    matchOnDescription: true,
  });
  return chosen && new Set(chosen.map(({ key }) => key));
}

async function resolve({ name, free, source }: Conflict): ReturnType<ImportPrompts['resolve']> {
  const answers = [
    { label: `Keep both, the new one as ${quoted(free)}`, answer: 'keep both' as const },
    { label: `Replace ${quoted(name)} with the one from ${oneLine(source)}`, answer: 'replace' as const },
    { label: 'Skip the new one', answer: 'leave out' as const },
  ];
  const choice = await vscode.window.showQuickPick(answers, {
    title: `Another server is called ${quoted(name)}`,
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
    const write = { label: `Write ${CONFIGURATION_PATH}`, description: 'with the changes shown' };
    const choice = await vscode.window.showQuickPick([write, { label: 'Cancel', description: 'write nothing' }], {
      title: 'Import Servers',
      ignoreFocusOut: true,
    });
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
