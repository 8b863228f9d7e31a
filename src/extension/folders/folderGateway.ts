import type * as vscode from 'vscode';
import type { ControlClient } from '../../control/client.ts';
import type { GatewayRuntime } from '../../host/attach/startWorker.ts';
import { CallFeed } from '../activity/callFeed.ts';
import { offerApprovals, ServerApproval } from '../approvals/serverApproval.ts';
import { commandHandlers } from '../commands.ts';
import { Environment, type WindowEnvironment } from '../configuration/environment.ts';
import { languageFeatures } from '../configuration/languageFeatures.ts';
import type { FolderCommandId } from '../contributions.ts';
import { Dashboard } from '../dashboard/dashboard.ts';
import type { EditorSecrets } from '../gateway/editorSecrets.ts';
import { GatewayLink } from '../gateway/gatewayLink.ts';
import { HeldDefinition, type Installation } from '../gateway/heldDefinition.ts';
import { linkTarget } from '../gateway/linkMachine.ts';
import { nodeExecutable, workerScript } from '../gateway/serverDefinition.ts';
import { DirectDuplicates } from '../import/directDuplicates.ts';
import { Observable, type Watchable } from '../observable.ts';
import { type Questions, questionSubjects } from '../questions/questions.ts';
import type { CommandHandlers } from '../registrations.ts';
import type { GatewayView } from '../status/health.ts';
import { keepJournal } from '../status/journal.ts';
import { LongCalls } from '../status/longCalls.ts';
import { Refreshes } from '../status/refreshes.ts';
import { waitsForUser } from '../status/remedies.ts';
import { followFindings, type ScannedServer } from '../trust/findings.ts';
import { offerReviews, TrustReviews } from '../trust/trustReviews.ts';
import { TryTool } from '../try/tryTool.ts';
import type { FirstSteps } from '../walkthrough/walkthrough.ts';

/** Parts that all folders of a window share. */
export interface WindowParts {
  environment: WindowEnvironment;
  installation: Installation;
  extensionUri: vscode.Uri;
  /** Folder of the bundled skill. */
  skillFolder: string;
  /** Folder of the user's files of this editor. */
  userFolder: string;
  secrets: EditorSecrets;
  firstSteps: FirstSteps;
  questions: Questions;
  /** `docs/editor/problems.md` of the extension. */
  page: vscode.Uri;
  /** Selects the row of a server in the view *Tools*. */
  reveal(folder: string, server: string): Promise<void>;
  /** Selects the row of a tool in that view. */
  revealTool(folder: string, path: string): Promise<void>;
  log: vscode.LogOutputChannel;
}

/** Folder of the workspace on a real disk; without a path if none is open. */
export interface FolderPlace {
  /** Name of the gateway, see `gatewayNames`. Identifies the folder in the addresses of documents. */
  name: string;
  /** Name of the folder as the user sees it. */
  title: string;
  path: string | undefined;
  isFirst: boolean;
}

/** Relation of a folder to the others of the window, which changes with them. */
interface AmongFolders {
  /** Returns the folder's title if the window has several gateways. */
  label(): string | undefined;
  /** Whether its gateway is the first of the window, which shows what concerns files that all of them read. */
  isFirstServed(): boolean;
}

/** Gateway of a folder, with its views and commands. A view that shows all folders follows `Folders`. */
export class FolderGateway {
  readonly place: FolderPlace;
  /** Returns the folder's title if the window has several gateways. */
  readonly label: () => string | undefined;
  readonly link: GatewayLink;
  readonly view: Observable<GatewayView>;
  readonly environment: Environment;
  readonly definition: HeldDefinition;
  readonly dashboard: Dashboard;
  /** Calls through the gateway. */
  readonly calls: CallFeed;
  readonly tries: TryTool;
  readonly handlers: CommandHandlers<FolderCommandId>;
  readonly #parts: readonly { dispose(): void }[];

  constructor(place: FolderPlace, window: WindowParts, { label, isFirstServed }: AmongFolders) {
    const { name } = place;
    const { log, secrets, questions, installation, extensionUri, skillFolder, userFolder } = window;
    this.place = place;
    this.label = label;
    const environment = new Environment(window.environment, place.path, place.isFirst);
    const runtimeOf = (workspace: string): GatewayRuntime => ({
      workspace,
      nodePath: nodeExecutable({ nodePath: environment.state.value.nodePath, execPath: process.execPath }),
      workerScript: workerScript(installation.distFolder),
    });
    const attach = async (workspace: string, signal: AbortSignal): Promise<ControlClient | undefined> => {
      // Loaded with the first attachment, so that activation does not load JSON-RPC.
      const { attachControl } = await import('../../host/attach/attachControl.ts');
      const runtime = runtimeOf(workspace);
      const client = await attachControl(runtime, { start: true, holds: true, signal, log: (line) => log.warn(line) });
      if (client) follow(client);
      return client;
    };
    const refreshes = new Refreshes((server) => {
      const { value: state } = link.state;
      return (
        state.kind === 'attached' && state.snapshot.servers.some((one) => one.name === server && waitsForUser(one))
      );
    });
    const longCalls = new LongCalls();
    const follow = (client: ControlClient): void => {
      client.onSecret(secrets.answer);
      questions.answer(client, place);
      client.onClose(() => {
        refreshes.lost();
        longCalls.lost();
      });
    };
    const rollOut = async (workspace: string): Promise<unknown> => {
      const { rollOut } = await import('../../host/attach/rollOut.ts');
      return rollOut(runtimeOf(workspace));
    };
    const link = new GatewayLink(attach);
    const duplicates = new DirectDuplicates(environment, userFolder, log);
    const viewNow = (): GatewayView => ({
      link: link.state.value,
      policy: environment.state.value.policy,
      direct: duplicates.names.value,
      questions: questionSubjects(questions.open.value, name),
      longCalls: longCalls.count.value,
      refreshing: refreshes.busy.value,
      news: refreshes.news.value,
    });
    const view = new Observable<GatewayView>(viewNow());
    const scanned = new Observable<readonly ScannedServer[]>([]);
    const dashboard = new Dashboard({ name, label, extensionUri, link, gateway: view, scanned });
    const tries = new TryTool({ name, label, extensionUri, link });
    const approval = new ServerApproval(name, link);
    const reviews = new TrustReviews(name, link, view);
    this.environment = environment;
    this.link = link;
    this.view = view;
    this.calls = new CallFeed(name, link);
    this.dashboard = dashboard;
    this.tries = tries;
    this.definition = new HeldDefinition(installation, name, environment, link.state);
    this.handlers = commandHandlers({
      name,
      environment,
      link,
      reveal: (server) => window.reveal(name, server),
      revealTool: (path) => window.revealTool(name, path),
      dashboard,
      approval,
      reviews,
      secrets,
      tries,
      rollOut,
      firstSteps: window.firstSteps,
      questions,
      refreshes,
      skillFolder,
      userFolder,
      log,
    });
    const retarget = (): void => {
      link.setTarget(linkTarget(environment.conditions));
      view.set(viewNow());
    };
    const update = (): void => view.set(viewNow());
    const sources: readonly Watchable<unknown>[] = [
      ...[link.state, duplicates.names, questions.open, longCalls.count, refreshes.busy, refreshes.news],
    ];
    this.#parts = [
      environment,
      link,
      this.calls,
      this.definition,
      dashboard,
      tries,
      approval,
      reviews,
      offerApprovals(name, label, view),
      offerReviews(name, label, view),
      followFindings(view, link, scanned),
      languageFeatures(
        { folder: name, isFirstServed, gateway: view, scanned, link, secrets, page: window.page },
        (error) => log.error('The help for waygate.json could not be loaded.', error),
      ),
      keepJournal(link.state, label, log),
      environment.state.onChange(retarget),
      duplicates,
      refreshes,
      longCalls,
      link.refreshed.onChange((result) => result && refreshes.ended(result)),
      link.calls.onChange((calls) => longCalls.follow(calls)),
      ...sources.map((source) => source.onChange(update)),
    ];
    retarget();
  }

  /** Puts the folder's title before a text if the window has several gateways. */
  titled(text: string): string {
    const label = this.label();
    return label === undefined ? text : `${label}: ${text}`;
  }

  dispose(): void {
    for (const part of [...this.#parts].reverse()) part.dispose();
  }
}
