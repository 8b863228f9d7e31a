import * as vscode from 'vscode';
import type { TreeNode } from '../control/contract.ts';
import type { ServerApproval } from './approvals/serverApproval.ts';
import { configurationCommands } from './configuration/configurationCommands.ts';
import type { Environment } from './configuration/environment.ts';
import { CONFIGURATION_PATH, type FolderCommandId } from './contributions.ts';
import type { Dashboard } from './dashboard/dashboard.ts';
import { dashboardCommands } from './dashboard/dashboardCommands.ts';
import { logPlace } from './documents/addresses.ts';
import { openDocument } from './documents/waygateFiles.ts';
import type { EditorSecrets } from './gateway/editorSecrets.ts';
import { type GatewayLink, sentenceOf } from './gateway/gatewayLink.ts';
import { t } from './l10n.ts';
import { notificationText } from './notificationText.ts';
import type { Questions } from './questions/questions.ts';
import { recordCommands } from './records/recordCommands.ts';
import type { CommandHandlers } from './registrations.ts';
import { installSkillInto } from './skill/installSkill.ts';
import type { Refreshes } from './status/refreshes.ts';
import { asRow, clickedServer, type ServerAction } from './tree/clickedServer.ts';
import { toolCommands } from './tree/toolCommands.ts';
import type { ToolElement } from './tree/toolRows.ts';
import { toRange } from './tree/toolsTree.ts';
import type { TrustReviews } from './trust/trustReviews.ts';
import { tryCommands } from './try/tryCommand.ts';
import type { TryTool } from './try/tryTool.ts';
import type { FirstSteps } from './walkthrough/walkthrough.ts';
import { notify, onFolder, showBusy, showProgress } from './windows.ts';

export interface CommandDependencies {
  /** Name of the folder's gateway. */
  name: string;
  environment: Environment;
  link: GatewayLink;
  /** Selects the row of a server. */
  reveal(server: string): Promise<void>;
  /** Selects the row of a tool. */
  revealTool(path: string): Promise<void>;
  dashboard: Dashboard;
  approval: ServerApproval;
  reviews: TrustReviews;
  secrets: EditorSecrets;
  tries: TryTool;
  /** Starts a new worker for a workspace, which takes over. */
  rollOut: (workspace: string) => Promise<unknown>;
  firstSteps: Pick<FirstSteps, 'open'>;
  questions: Questions;
  refreshes: Refreshes;
  /** Folder of the bundled skill. */
  skillFolder: string;
  /** Folder of the user's files of this editor. */
  userFolder: string;
  log: vscode.LogOutputChannel;
}

/** Makes the handler of a command that reports a failure. `failed` begins the message. */
export function guardedBy(log: vscode.LogOutputChannel) {
  return (failed: string, action: (argument: unknown) => Promise<unknown>) =>
    async (argument?: unknown): Promise<void> => {
      try {
        await action(argument);
      } catch (error) {
        // Not awaited: a command is done when its work is done, not when the user has read the message.
        void showFailure(failed, error, log);
      }
    };
}

/** Returns the commands of a folder. */
export function commandHandlers(parts: CommandDependencies): CommandHandlers<FolderCommandId> {
  const {
    name: folder,
    environment,
    link,
    reveal,
    revealTool,
    dashboard,
    approval,
    reviews,
    secrets,
    tries,
    rollOut,
    firstSteps,
    questions,
    refreshes,
    skillFolder,
    userFolder,
    log,
  } = parts;
  const guarded = guardedBy(log);

  return {
    'waygate.refresh': guarded(t`Refreshing the catalogs failed`, () => refresh(link, refreshes)),
    'waygate.refreshServer': guarded(t`Refreshing the server failed`, async (argument) => {
      const server = await clickedServer(link, argument, REFRESH);
      if (server) await refresh(link, refreshes, server.name);
    }),
    ...questions.commands(),
    'waygate.reload': guarded(t`Reloading the gateway failed`, () => showBusy(() => link.reload(rollOut))),
    'waygate.restart': guarded(t`Restarting the gateway failed`, () => showBusy(() => link.restart())),
    'waygate.approveServers': guarded(t`Approving servers failed`, (argument) => {
      const row = asRow(argument);
      return approval.ask(row?.kind === 'server' ? row.server : undefined);
    }),
    'waygate.approveShown': guarded(t`Approving servers failed`, (argument) => approval.approveShown(argument)),
    'waygate.showLaunchChange': guarded(t`Showing the change failed`, (argument) => approval.showChange(argument)),
    'waygate.reviewChanges': guarded(t`Reviewing changes failed`, (argument) => reviews.review(argument)),
    'waygate.reviewChange': guarded(t`Reviewing the change failed`, (argument) => reviews.review(argument)),
    'waygate.acceptShown': guarded(t`Accepting failed`, (argument) => reviews.accept(argument)),
    'waygate.block': guarded(t`Blocking failed`, (argument) => reviews.block(argument)),
    'waygate.quarantine': guarded(t`Putting the server in quarantine failed`, (argument) =>
      reviews.quarantine(argument),
    ),
    'waygate.release': guarded(t`Releasing the server failed`, (argument) => reviews.release(argument)),
    'waygate.releaseShown': guarded(t`Releasing the server failed`, (argument) => reviews.releaseShown(argument)),
    'waygate.signIn': guarded(t`Signing in failed`, async (argument) => {
      const server = await clickedServer(link, argument, SIGN_IN);
      if (server) await signIn(link, server.name);
    }),
    'waygate.signOut': guarded(t`Signing out failed`, async (argument) => {
      const server = (await clickedServer(link, argument, SIGN_OUT))?.name;
      if (server === undefined) return;
      const wasSignedIn = await link.signOut(server);
      const message = wasSignedIn
        ? notificationText`Signed out of ${server}.`
        : notificationText`Nobody was signed in to ${server}.`;
      void notify('info', message);
    }),
    'waygate.setSecret': guarded(t`Setting the secret failed`, async (argument) => {
      const { name = '', secret } = (await clickedServer(link, argument, SET_SECRET)) ?? {};
      if (secret && (await secrets.ask(name, secret))) await link.recheck();
    }),
    ...toolCommands({ folder, link, revealTool, guarded }),
    ...recordCommands({ folder, link, guarded }),
    ...configurationCommands({ link, secrets, reveal, file: () => configurationFile(environment), guarded }),
    'waygate.getStarted': guarded(t`Opening the first steps failed`, () => firstSteps.open()),
    'waygate.openServerLog': guarded(t`Opening the log failed`, async (argument) => {
      const server = await clickedServer(link, argument, OPEN_LOG);
      if (server) await openDocument(logPlace(folder, server.name));
    }),
    'waygate.showLog': async () => log.show(),
    'waygate.openDashboard': guarded(t`Opening the dashboard failed`, () => dashboard.open()),
    ...dashboardCommands(link, folder, guarded),
    'waygate.openConfiguration': guarded(t`Opening the configuration failed`, (argument) =>
      openConfiguration(folder, environment, link, asRow(argument)),
    ),
    'waygate.createConfiguration': guarded(t`Creating the configuration failed`, () =>
      createConfiguration(environment),
    ),
    'waygate.importServers': guarded(t`Importing servers failed`, async () => {
      // Loaded on demand, so that activation does not pay for it.
      const { importServers } = await import('./import/importServers.ts');
      await importServers(folder, environment, link, secrets, userFolder, log);
    }),
    'waygate.installSkill': guarded(t`Installing the skill failed`, () =>
      installSkillInto(environment.state.value.workspace, skillFolder),
    ),
    ...tryCommands(guarded, link, tries),
    'waygate.copyPath': guarded(t`Copying the path failed`, (argument) => copy(asRow(argument), ({ path }) => path)),
    'waygate.copyToolId': guarded(t`Copying the tool id failed`, (argument) =>
      copy(asRow(argument), ({ toolId }) => toolId),
    ),
  };
}

const SIGN_IN: ServerAction = {
  title: notificationText`Sign In`,
  applies: ({ state }) => state === 'needs_sign_in',
  none: notificationText`No sign-in is needed.`,
};

const OPEN_LOG: ServerAction = {
  title: notificationText`Show Server Log`,
  applies: () => true,
  none: notificationText`The configuration has no such server.`,
};

const SIGN_OUT: ServerAction = {
  title: notificationText`Sign Out`,
  applies: ({ signedIn }) => signedIn === true,
  none: notificationText`Nobody is signed in.`,
};

const REFRESH: ServerAction = {
  title: notificationText`Refresh`,
  applies: ({ state }) => state !== 'disabled',
  none: notificationText`The server is off in the configuration.`,
};

const SET_SECRET: ServerAction = {
  title: notificationText`Set Secret`,
  applies: ({ secret }) => secret !== undefined,
  none: notificationText`No secret is needed.`,
};

/** Resolves when the refresh has begun: the rows show the rest. */
function refresh(link: GatewayLink, refreshes: Refreshes, server?: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = (servers: readonly string[]): void => {
      refreshes.begin(servers);
      resolve();
    };
    link.refresh(server, begin).catch(reject);
  });
}

/** Copies from the row. Rejects without one instead of copying from another row, such as the selected one. */
async function copy(row: ToolElement | undefined, from: (node: TreeNode) => string | undefined): Promise<void> {
  const node = row?.kind === 'held' ? undefined : row?.node;
  const text = node && from(node);
  if (text === undefined) throw new Error(t`Use the menu of a row again; the list was being redrawn`);
  await vscode.env.clipboard.writeText(text);
}

/** Opens the sign-in page in the browser; the gateway receives the result. */
async function signIn(link: GatewayLink, server: string): Promise<void> {
  const { url, end } = await link.signIn(server);
  if (!(await openInBrowser(url))) throw new Error(t`The browser was not opened`);
  const reason = await showProgress(
    notificationText`Waygate: waiting for the sign-in to ${server} in the browser`,
    end,
  );
  if (reason !== undefined) throw new Error(reason);
  void notify('info', notificationText`Signed in to ${server}.`);
}

/**
 * Opens an address given as text. The editor would rewrite a `Uri` without its escapes, which changes an address whose
 * values contain "&", "+" or "%" (microsoft/vscode#85930).
 */
function openInBrowser(url: string): Thenable<boolean> {
  return vscode.env.openExternal(url as unknown as vscode.Uri);
}

async function openConfiguration(
  folder: string,
  environment: Environment,
  link: GatewayLink,
  element?: ToolElement,
): Promise<void> {
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
  const message = notificationText`This folder has no ${CONFIGURATION_PATH} yet.`;
  void notify('info', message, onFolder(folder, 'waygate.createConfiguration'));
}

/** Creates the configuration, or opens an existing one. Never overwrites. */
async function createConfiguration(environment: Environment): Promise<void> {
  const file = configurationFile(environment);
  await file.create();
  await vscode.window.showTextDocument(vscode.Uri.file(file.path));
}

function configurationFile(environment: Environment): NonNullable<Environment['configurationFile']> {
  const file = environment.configurationFile;
  if (file === undefined) throw new Error(t`Open a folder on this machine first`);
  return file;
}

async function showFailure(failed: string, error: unknown, log: vscode.LogOutputChannel): Promise<void> {
  log.error(`${failed}.`, error);
  await notify('error', notificationText`${failed}: ${sentenceOf(error)}`, 'waygate.showLog');
}
