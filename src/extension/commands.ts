import * as vscode from 'vscode';
import type { ServerApproval } from './approvals/serverApproval.ts';
import type { Environment } from './configuration/environment.ts';
import { COMMANDS, CONFIGURATION_PATH, TOOLS_VIEW_ID } from './contributions/contributions.ts';
import type { Dashboard } from './dashboard/dashboard.ts';
import type { EditorSecrets } from './gateway/editorSecrets.ts';
import type { GatewayLink } from './gateway/gatewayLink.ts';
import type { Observable } from './observable.ts';
import { asSentence } from './plainText.ts';
import { type CommandHandlers, runCommand } from './registrations.ts';
import { installSkillInto } from './skill/installSkill.ts';
import type { ToolElement } from './tree/toolRows.ts';
import { type ToolsTree, toRange } from './tree/toolsTree.ts';

export interface CommandDependencies {
  environment: Environment;
  link: GatewayLink;
  tree: ToolsTree;
  dashboard: Dashboard;
  approval: ServerApproval;
  secrets: EditorSecrets;
  /** Prepares another worker for a workspace and has it take over. */
  rollOut: (workspace: string) => Promise<unknown>;
  refreshing: Observable<boolean>;
  /** Folder of the skill that comes with the extension. */
  skillFolder: string;
  log: vscode.LogOutputChannel;
}

export function commandHandlers(parts: CommandDependencies): CommandHandlers {
  const { environment, link, tree, dashboard, approval, secrets, rollOut, refreshing, skillFolder, log } = parts;
  const guarded = (doing: string, action: (argument: unknown) => Promise<void>) => async (argument?: unknown) => {
    try {
      await action(argument);
    } catch (error) {
      // A command is done when its work is, not when someone has read the message.
      void tellFailure(doing, error, log);
    }
  };
  const inView = (action: () => Promise<void>): Promise<void> =>
    Promise.resolve(vscode.window.withProgress({ location: { viewId: TOOLS_VIEW_ID } }, action));

  return {
    'waygate.refresh': guarded('Refreshing the catalogs', async () => {
      refreshing.set(true);
      try {
        await inView(() => link.refresh());
      } finally {
        refreshing.set(false);
      }
    }),
    'waygate.reload': guarded('Reloading the gateway', () => inView(() => link.reload(rollOut))),
    'waygate.restart': guarded('Restarting the gateway', () => inView(() => link.restart())),
    'waygate.approveServers': guarded('Approving servers', (argument) => {
      const element = asElement(argument);
      return approval.ask(element?.kind === 'server' ? element.server : undefined);
    }),
    'waygate.approveShown': guarded('Approving servers', (argument) => approval.approveShown(namesIn(argument))),
    'waygate.signIn': guarded('Signing in', async (argument) => {
      const element = asElement(argument);
      if (element?.kind === 'server') await signIn(link, element.server.name);
    }),
    'waygate.signOut': guarded('Signing out', async (argument) => {
      const element = asElement(argument);
      if (element?.kind !== 'node') return;
      const { server } = element.node;
      const told = (await link.signOut(server)) ? `Signed out of ${server}.` : `Nobody was signed in to ${server}.`;
      void vscode.window.showInformationMessage(told);
    }),
    'waygate.setSecret': guarded('Setting the secret', async (argument) => {
      const element = asElement(argument);
      if (element?.kind !== 'server' || !element.server.secret) return;
      const { name, secret } = element.server;
      if (await secrets.ask(name, secret)) await link.recheck();
    }),
    'waygate.showLog': async () => log.show(),
    'waygate.openDashboard': guarded('Opening the dashboard', async () => dashboard.open()),
    'waygate.openConfiguration': guarded('Opening the configuration', (argument) =>
      openConfiguration(environment, link, asElement(argument)),
    ),
    'waygate.createConfiguration': guarded('Creating the configuration', () => createConfiguration(environment)),
    'waygate.importServers': guarded('Importing servers', async () => {
      // Loaded when it is asked for: an activation pays nothing for it.
      const { importServers } = await import('./import/importServers.ts');
      await importServers(environment, link, secrets, log);
    }),
    'waygate.installSkill': guarded('Installing the skill', () =>
      installSkillInto(environment.state.value.workspace, skillFolder),
    ),
    'waygate.copyPath': guarded('Copying the path', async (argument) => {
      const element = asElement(argument) ?? tree.view.selection[0];
      if (element?.kind === 'node') await vscode.env.clipboard.writeText(element.node.path);
    }),
    'waygate.copyToolId': guarded('Copying the tool id', async (argument) => {
      const element = asElement(argument) ?? tree.view.selection[0];
      if (element?.kind === 'node' && element.node.toolId) await vscode.env.clipboard.writeText(element.node.toolId);
    }),
  };
}

/** The browser shows where to sign in; the gateway hears what came of it. */
async function signIn(link: GatewayLink, server: string): Promise<void> {
  const { url, end } = await link.signIn(server);
  if (!(await openInBrowser(url))) throw new Error('The browser was not opened');
  const title = `Waygate: waiting for the sign-in to ${server} in the browser`;
  const reason = await vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () => end);
  if (reason !== undefined) throw new Error(reason);
  void vscode.window.showInformationMessage(`Signed in to ${server}.`);
}

/**
 * The editor takes text as well, and must have it: what it is given as a `Uri` it writes anew without its escapes, and an
 * address whose values hold "&", "+" or "%" is another one then (microsoft/vscode#85930).
 */
function openInBrowser(url: string): Thenable<boolean> {
  return vscode.env.openExternal(url as unknown as vscode.Uri);
}

async function openConfiguration(environment: Environment, link: GatewayLink, element?: ToolElement): Promise<void> {
  if (element?.kind === 'server' && element.server.location) {
    const state = link.state.value;
    const { uri, range } = toRange(
      element.server.location,
      state.kind === 'attached' ? state.snapshot.workspace : undefined,
    );
    await vscode.window.showTextDocument(uri, { selection: range });
    return;
  }
  const file = configurationFile(environment);
  const { hash } = await file.check();
  if (hash !== undefined) {
    await vscode.window.showTextDocument(vscode.Uri.file(file.path));
    return;
  }
  void offerConfiguration();
}

async function offerConfiguration(): Promise<void> {
  const { title } = COMMANDS['waygate.createConfiguration'];
  const choice = await vscode.window.showInformationMessage(`This folder has no ${CONFIGURATION_PATH} yet.`, title);
  if (choice === title) await runCommand('waygate.createConfiguration');
}

/** Never overwrites: where a configuration is, it is opened. */
async function createConfiguration(environment: Environment): Promise<void> {
  const file = configurationFile(environment);
  await file.create();
  await vscode.window.showTextDocument(vscode.Uri.file(file.path));
}

function configurationFile(environment: Environment): NonNullable<Environment['configurationFile']> {
  const file = environment.configurationFile;
  if (file === undefined) throw new Error('Open a folder on this machine first');
  return file;
}

/** Words in the document name servers; the button above it is called with the document's address. */
function namesIn(argument: unknown): readonly string[] | undefined {
  const names = typeof argument === 'object' && argument !== null && 'names' in argument ? argument.names : undefined;
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : undefined;
}

/** The editor calls with the row; a keybinding or another extension with whatever it likes. */
function asElement(argument: unknown): ToolElement | undefined {
  const kind = typeof argument === 'object' && argument !== null && 'kind' in argument ? argument.kind : undefined;
  return kind === 'node' || kind === 'server' ? (argument as ToolElement) : undefined;
}

async function tellFailure(doing: string, error: unknown, log: vscode.LogOutputChannel): Promise<void> {
  log.error(`${doing} failed.`, error);
  const reason = asSentence(error instanceof Error ? error.message : String(error));
  const { title } = COMMANDS['waygate.showLog'];
  const choice = await vscode.window.showErrorMessage(`${doing} failed: ${reason}`, title);
  if (choice === title) await runCommand('waygate.showLog');
}
