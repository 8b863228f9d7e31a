import * as vscode from 'vscode';
import { SKILL_NAME } from '../config/state/skillInstall.ts';
import type { ApprovalQuestion, ApprovalVerdict, ConfigurationProblem } from '../control/contract.ts';
import type { GatewayRuntime } from '../host/attach/startWorker.ts';
import { offerApprovals, ServerApproval } from './approvals/serverApproval.ts';
import { commandHandlers } from './commands.ts';
import { Environment, type Surroundings } from './configuration/environment.ts';
import { type ContextKeyTypes, EXTENSION_TITLE } from './contributions.ts';
import { Dashboard } from './dashboard/dashboard.ts';
import { folderKey } from './documents/addresses.ts';
import { WaygateFiles } from './documents/waygateFiles.ts';
import { EditorSecrets } from './gateway/editorSecrets.ts';
import { type Attach, GatewayLink } from './gateway/gatewayLink.ts';
import { linkTarget } from './gateway/linkMachine.ts';
import { registerMcpProvider } from './gateway/mcpProvider.ts';
import { nodeExecutable, workerScript } from './gateway/serverDefinition.ts';
import { DirectDuplicates } from './import/directDuplicates.ts';
import { type NotificationText, notificationLines, notificationText } from './notificationText.ts';
import { type Disposable, Observable } from './observable.ts';
import { registerCommands, setContextKey } from './registrations.ts';
import type { GatewayView } from './status/health.ts';
import { journal } from './status/journal.ts';
import { showStatusBar } from './status/statusBar.ts';
import { ToolsTree, toRange } from './tree/toolsTree.ts';
import { findingProblems, followFindings, type ScannedServer } from './trust/findings.ts';
import { offerReviews, TrustReviews } from './trust/trustReviews.ts';
import { ask, notify } from './windows.ts';

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
  const link = new GatewayLink(attachWith(environment, secrets, distFolder, log));
  const rollOut = rollOutWith(environment, distFolder);
  const duplicates = new DirectDuplicates(environment, userFolder, log);
  const view = (): GatewayView => viewOf(environment, link, duplicates);
  const gateway = new Observable<GatewayView>(view());
  const refreshing = new Observable(false);
  const scanned = new Observable<readonly ScannedServer[]>([]);
  const dashboard = new Dashboard({ extensionUri: context.extensionUri, link, gateway, refreshing, scanned });
  const tree = new ToolsTree(gateway, link, log);
  const approval = new ServerApproval(link);
  const reviews = new TrustReviews(link, gateway);

  const files = new WaygateFiles((key) => {
    const { workspace } = environment.state.value;
    return workspace !== undefined && folderKey(workspace) === key ? link : undefined;
  });

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
    files,
    offerApprovals(gateway),
    offerReviews(gateway),
    followFindings(gateway, link, scanned),
    showStatusBar(gateway),
    showProblems(gateway, scanned),
    keepContextKey(gateway),
    keepJournal(link, log),
    environment.state.onChange(follow),
    duplicates,
    link.state.onChange(() => gateway.set(view())),
    duplicates.names.onChange(() => gateway.set(view())),
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
        refreshing,
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
  secrets: EditorSecrets,
  distFolder: string,
  log: vscode.LogOutputChannel,
): Attach {
  return async (workspace, signal) => {
    // Loaded with the first attachment, so that activation does not load JSON-RPC.
    const { attachControl } = await import('../host/attach/attachControl.ts');
    const runtime = runtimeOf(workspace, environment, distFolder);
    const client = await attachControl(runtime, { start: true, holds: true, signal, log: (line) => log.warn(line) });
    client?.onApproval(askApproval);
    client?.onSecret(secrets.answer);
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

function viewOf(environment: Environment, link: GatewayLink, { names }: DirectDuplicates): GatewayView {
  return { link: link.state.value, policy: environment.state.value.policy, direct: names.value };
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

/** The first answer has the focus of the dialog: a stray key press runs nothing. */
const ANSWERS = [
  { title: notificationText`Do Not Run It`, verdict: 'denied' },
  { title: notificationText`Allow Once`, verdict: 'once' },
  { title: notificationText`Allow for This Session`, verdict: 'session' },
  { title: notificationText`Always Allow Here`, verdict: 'workspace' },
] as const satisfies readonly { title: NotificationText; verdict: ApprovalVerdict }[];

/**
 * Asks the user whether a tool may run, for clients that cannot ask themselves. Names the server's tool, not the
 * gateway's own: "may tool_execute run" would be a question about everything.
 */
async function askApproval({ lines: [question = '', ...details] }: ApprovalQuestion): Promise<ApprovalVerdict> {
  const chosen = await ask(notificationText`${question}`, notificationLines(details), ANSWERS);
  // Closing the dialog denies the call.
  return chosen?.verdict ?? 'denied';
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
