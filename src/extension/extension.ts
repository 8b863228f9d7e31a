import * as vscode from 'vscode';
import { SKILL_NAME } from '../config/state/skillInstall.ts';
import { ActivityParts } from './activity/activityParts.ts';
import { WindowEnvironment } from './configuration/environment.ts';
import type { PolicyBlock } from './configuration/policy.ts';
import { type ContextKeyTypes, EXTENSION_TITLE } from './contributions.ts';
import { restoreDashboards } from './dashboard/dashboard.ts';
import { folderCommands } from './folders/folderCommands.ts';
import { Folders, type FolderView } from './folders/folders.ts';
import { EditorSecrets } from './gateway/editorSecrets.ts';
import { registerMcpProvider } from './gateway/mcpProvider.ts';
import { RecordsServer } from './gateway/recordsServer.ts';
import { RecordTokens } from './gateway/recordTokens.ts';
import { notificationText } from './notificationText.ts';
import type { Disposable, Watchable } from './observable.ts';
import { Questions } from './questions/questions.ts';
import { RecordsView } from './records/recordsView.ts';
import { registerCommands, setContextKey } from './registrations.ts';
import { showStatusBar } from './status/statusBar.ts';
import { ToolsTree } from './tree/toolsTree.ts';
import { restoreTries } from './try/tryTool.ts';
import { FirstSteps } from './walkthrough/walkthrough.ts';
import { notify } from './windows.ts';

/** Name of the activation measure in the extension host's timeline. */
export const ACTIVATION_MEASURE = 'waygate.activate';

/** Awaits nothing: longer work continues in the background and shows in the status bar. */
export function activate(context: vscode.ExtensionContext): void {
  const startedAt = performance.now();
  const log = vscode.window.createOutputChannel(EXTENSION_TITLE, { log: true });
  context.subscriptions.push(log);
  try {
    context.subscriptions.push(...compose(context, log));
  } catch (error) {
    // The editor shows no message when an extension fails to activate.
    log.error('Waygate could not start.', error);
    const reason = error instanceof Error ? error.message : String(error);
    void notify('error', notificationText`Waygate could not start: ${reason}`);
    throw error;
  }
  const { duration } = performance.measure(ACTIVATION_MEASURE, { start: startedAt });
  log.debug(`Activated in ${duration.toFixed(1)} ms.`);
}

function compose(context: vscode.ExtensionContext, log: vscode.LogOutputChannel): Disposable[] {
  const dist = vscode.Uri.joinPath(context.extensionUri, 'dist');
  const installation = { distFolder: dist.fsPath, version: String(context.extension.packageJSON.version) };
  const environment = new WindowEnvironment();
  const firstSteps = new FirstSteps();
  const questions = new Questions();
  const folders: Folders = new Folders({
    environment,
    reveal: (folder, server) => tree.revealServer(folder, server),
    revealTool: (folder, path) => tree.revealTool(folder, path),
    page: vscode.Uri.joinPath(context.extensionUri, 'docs', 'editor', 'problems.md'),
    installation,
    extensionUri: context.extensionUri,
    skillFolder: vscode.Uri.joinPath(dist, 'skills', SKILL_NAME).fsPath,
    // The settings folder of this editor and profile contains the storage of extensions.
    userFolder: vscode.Uri.joinPath(context.globalStorageUri, '..', '..').fsPath,
    secrets: new EditorSecrets(context.secrets),
    firstSteps,
    questions,
    log,
  });
  const tokens = new RecordTokens(context.secrets);
  const records = new RecordsServer(installation, environment.state, folders.gateways, tokens);
  const tree = new ToolsTree(folders, log);
  const activity = new ActivityParts(folders, tree, context.extensionUri, log);
  activity.files.provide('questions', questions);
  const recordSources = new RecordsView(folders);
  return [
    environment,
    questions,
    folders,
    tree,
    activity,
    recordSources,
    restoreDashboards(() => folders.gateways.value.map(({ dashboard }) => dashboard)),
    restoreTries((name) => folders.named(name)?.tries),
    showStatusBar(folders.views),
    keepContextKey(folders.views),
    firstSteps,
    firstSteps.follow(folders.views),
    logPolicy(environment.state, log),
    records,
    registerMcpProvider(folders.gateways, records, log),
    registerCommands({
      ...folderCommands(folders),
      ...activity.handlers,
      'waygate.setRecordToken': records.setToken,
      'waygate.refreshRecords': () => recordSources.reload(),
    }),
  ].reverse();
}

/** States of a folder from the one that decides for the window to the least important. */
const STATES: readonly ContextKeyTypes['waygate.state'][] = [
  'active',
  'untrusted',
  'checking',
  'no_configuration',
  'no_folder',
];

function keepContextKey(folders: Watchable<readonly FolderView[]>): Disposable {
  let shown: ContextKeyTypes['waygate.state'] | undefined;
  const show = (views: readonly FolderView[]): void => {
    const states = views.map(({ view: { link } }) => (link.kind === 'off' ? link.reason : 'active'));
    const state = STATES.find((one) => states.includes(one)) ?? 'no_folder';
    if (state !== shown) setContextKey('waygate.state', state);
    shown = state;
  };
  show(folders.value);
  return folders.onChange(show);
}

function logPolicy(state: Watchable<{ policy: PolicyBlock | undefined }>, log: vscode.LogOutputChannel): Disposable {
  let logged: string | undefined;
  const logNow = ({ policy }: { policy: PolicyBlock | undefined }): void => {
    if (policy && policy.message !== logged) log.warn(policy.message);
    logged = policy?.message;
  };
  logNow(state.value);
  return state.onChange(logNow);
}
