import * as vscode from 'vscode';
import { SKILL_NAME } from '../config/state/skillInstall.ts';
import type { ControlClient } from '../control/client.ts';
import type { ConfigurationProblem } from '../control/contract.ts';
import type { GatewayRuntime } from '../host/attach/startWorker.ts';
import { offerApprovals, ServerApproval } from './approvals/serverApproval.ts';
import { commandHandlers } from './commands.ts';
import { Environment, type Surroundings } from './configuration/environment.ts';
import { type ContextKeyTypes, EXTENSION_TITLE } from './contributions.ts';
import { Dashboard } from './dashboard/dashboard.ts';
import { EditorSecrets } from './gateway/editorSecrets.ts';
import { type Attach, GatewayLink } from './gateway/gatewayLink.ts';
import { linkTarget } from './gateway/linkMachine.ts';
import { registerMcpProvider } from './gateway/mcpProvider.ts';
import { nodeExecutable, workerScript } from './gateway/serverDefinition.ts';
import { DirectDuplicates } from './import/directDuplicates.ts';
import { notificationText } from './notificationText.ts';
import { type Disposable, Observable } from './observable.ts';
import { Questions, questionSubjects } from './questions/questions.ts';
import { registerCommands, setContextKey } from './registrations.ts';
import type { GatewayView } from './status/health.ts';
import { journal } from './status/journal.ts';
import { LongCalls } from './status/longCalls.ts';
import { Refreshes } from './status/refreshes.ts';
import { showStatusBar } from './status/statusBar.ts';
import { ToolsTree, toRange } from './tree/toolsTree.ts';
import { findingProblems, followFindings, type ScannedServer } from './trust/findings.ts';
import { offerReviews, TrustReviews } from './trust/trustReviews.ts';
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

function compose(context: vscode.ExtensionContext, log: vscode.LogOutputChannel): { dispose(): void }[] {
  const distFolder = vscode.Uri.joinPath(context.extensionUri, 'dist').fsPath;
  const skillFolder = vscode.Uri.joinPath(context.extensionUri, 'dist', 'skills', SKILL_NAME).fsPath;
  // The settings folder of this editor and profile contains the storage of extensions.
  const userFolder = vscode.Uri.joinPath(context.globalStorageUri, '..', '..').fsPath;
  const version = String(context.extension.packageJSON.version);

  const environment = new Environment();
  const secrets = new EditorSecrets(context.secrets);
  const questions = new Questions();
  const refreshes = new Refreshes();
  const longCalls = new LongCalls();
  const follows = (client: ControlClient, workspace: string): void => {
    client.onSecret(secrets.answer);
    questions.answer(client, workspace);
    client.onRefreshed((result) => refreshes.ended(result));
    client.onCalls((calls) => longCalls.follow(calls));
    client.onClose(() => {
      refreshes.lost();
      longCalls.lost();
    });
  };
  const link = new GatewayLink(attachWith(environment, follows, distFolder, log));
  const rollOut = rollOutWith(environment, distFolder);
  const duplicates = new DirectDuplicates(environment, userFolder, log);
  const view = (): GatewayView => ({
    link: link.state.value,
    policy: environment.state.value.policy,
    direct: duplicates.names.value,
    questions: questionSubjects(questions.open.value),
    longCalls: longCalls.count.value,
    refreshing: refreshes.busy.value,
    news: refreshes.news.value,
  });
  const gateway = new Observable<GatewayView>(view());
  const scanned = new Observable<readonly ScannedServer[]>([]);
  const dashboard = new Dashboard(context.extensionUri, gateway, scanned);
  const tree = new ToolsTree(gateway, link, log);
  const approval = new ServerApproval(link);
  const reviews = new TrustReviews(link, gateway);

  const follow = (): void => {
    link.setTarget(linkTarget(environment.conditions));
    gateway.set(view());
  };
  const parts = [
    environment,
    link,
    dashboard,
    tree,
    approval,
    reviews,
    offerApprovals(gateway),
    offerReviews(gateway),
    followFindings(gateway, link, scanned),
    showStatusBar(gateway),
    showProblems(gateway, scanned),
    keepContextKey(gateway),
    keepJournal(link, log),
    environment.state.onChange(follow),
    duplicates,
    questions,
    refreshes,
    longCalls,
    ...[link.state, duplicates.names, questions.open, longCalls.count, refreshes.busy, refreshes.news].map((source) =>
      (source as Observable<unknown>).onChange(() => gateway.set(view())),
    ),
    logPolicy(environment, log),
    registerMcpProvider({ distFolder, version }, environment, link.state, log),
    registerCommands(
      commandHandlers({
        environment,
        link,
        dashboard,
        approval,
        reviews,
        secrets,
        rollOut,
        questions,
        refreshes,
        skillFolder,
        userFolder,
        log,
      }),
    ),
  ];
  follow();
  return parts.reverse();
}

function attachWith(
  environment: Environment,
  follows: (client: ControlClient, workspace: string) => void,
  distFolder: string,
  log: vscode.LogOutputChannel,
): Attach {
  return async (workspace, signal) => {
    // Loaded with the first attachment, so that activation does not load JSON-RPC.
    const { attachControl } = await import('../host/attach/attachControl.ts');
    const runtime = runtimeOf(workspace, environment, distFolder);
    const client = await attachControl(runtime, { start: true, holds: true, signal, log: (line) => log.warn(line) });
    if (client) follows(client, workspace);
    return client;
  };
}

function rollOutWith(environment: Environment, distFolder: string): (workspace: string) => Promise<unknown> {
  return async (workspace) => {
    const { rollOut } = await import('../host/attach/rollOut.ts');
    return rollOut(runtimeOf(workspace, environment, distFolder));
  };
}

function runtimeOf(workspace: string, environment: Environment, distFolder: string): GatewayRuntime {
  const { nodePath } = environment.state.value;
  return {
    workspace,
    nodePath: nodeExecutable({ nodePath, execPath: process.execPath }),
    workerScript: workerScript(distFolder),
  };
}

function keepContextKey(gateway: Observable<GatewayView>): vscode.Disposable {
  let shown: ContextKeyTypes['waygate.state'] | undefined;
  const show = ({ link }: GatewayView): void => {
    const state = link.kind === 'off' ? link.reason : 'active';
    if (state !== shown) setContextKey('waygate.state', state);
    shown = state;
  };
  show(gateway.value);
  return vscode.Disposable.from(gateway.onChange(show));
}

function keepJournal(link: GatewayLink, log: vscode.LogOutputChannel): { dispose(): void } {
  let before = link.state.value;
  return link.state.onChange((after) => {
    for (const { level, text } of journal(before, after)) log[level](text);
    before = after;
  });
}

function logPolicy(environment: Environment, log: vscode.LogOutputChannel): { dispose(): void } {
  let logged: string | undefined;
  const logPolicy = ({ policy }: Surroundings): void => {
    if (policy && policy.message !== logged) log.warn(policy.message);
    logged = policy?.message;
  };
  logPolicy(environment.state.value);
  return environment.state.onChange(logPolicy);
}

/** Shows problems of the configuration, and hard findings of its servers, in the Problems view and under their text. */
function showProblems(gateway: Observable<GatewayView>, scanned: Observable<readonly ScannedServer[]>): Disposable {
  const collection = vscode.languages.createDiagnosticCollection('waygate');
  let shown = '';
  const update = (): void => {
    const { link } = gateway.value;
    // Keep the last findings while a worker is replaced.
    if (link.kind !== 'attached' && link.kind !== 'off') return;
    const problems =
      link.kind === 'attached' ? [...link.snapshot.configuration.problems, ...findingProblems(scanned.value)] : [];
    const next = JSON.stringify(problems);
    if (next === shown) return;
    shown = next;
    collection.clear();
    for (const problem of problems) add(collection, problem, link.kind === 'attached' ? link.snapshot.workspace : '');
  };
  update();
  return vscode.Disposable.from(collection, gateway.onChange(update), scanned.onChange(update));
}

function add(collection: vscode.DiagnosticCollection, problem: ConfigurationProblem, workspace: string): void {
  const { uri, range: place } = toRange(problem.location, workspace);
  // The editor widens an empty range to the word at that position.
  const range =
    problem.endColumn === undefined
      ? place
      : place.with({ end: place.start.with({ character: problem.endColumn - 1 }) });
  const severity = problem.severity === 'error' ? vscode.DiagnosticSeverity.Error : vscode.DiagnosticSeverity.Warning;
  const diagnostic = new vscode.Diagnostic(range, notificationText`${problem.message}`, severity);
  diagnostic.source = EXTENSION_TITLE;
  collection.set(uri, [...(collection.get(uri) ?? []), diagnostic]);
}
