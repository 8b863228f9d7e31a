import * as vscode from 'vscode';
import type { ServerStatus } from '../../control/contract.ts';
import {
  ACTIVITY_COMMANDS,
  APPROVAL_SCHEME,
  COMMANDS,
  type FolderCommandId,
  TRUST_SCHEME,
  WAYGATE_SCHEME,
  WINDOW_COMMANDS,
} from '../contributions.ts';
import { notificationText } from '../notificationText.ts';
import { commandTitle } from '../plainText.ts';
import type { CommandHandlers } from '../registrations.ts';
import { serversOf, summarize } from '../status/health.ts';
import { isQuarantined, waitsForReview } from '../trust/heldRows.ts';
import { pick } from '../windows.ts';
import type { FolderGateway } from './folderGateway.ts';
import type { Folders } from './folders.ts';

/** Commands for a folder that has no gateway yet. */
const FOR_ANY_FOLDER: readonly FolderCommandId[] = [
  'waygate.openConfiguration',
  'waygate.createConfiguration',
  'waygate.importServers',
  'waygate.installSkill',
];
/** Commands for the window. */
const FOR_NO_FOLDER: readonly FolderCommandId[] = ['waygate.showLog', 'waygate.getStarted', 'waygate.reviewQuestions'];
/** Schemes of documents whose authority is the name of a gateway. */
const SCHEMES = [APPROVAL_SCHEME, TRUST_SCHEME, WAYGATE_SCHEME];

/** Servers that a command is for. Only folders with one are offered, if there are any. */
const FOR_SERVERS: Partial<Record<FolderCommandId, (server: ServerStatus) => boolean>> = {
  'waygate.approveServers': ({ state }) => state === 'needs_approval',
  'waygate.signIn': ({ state }) => state === 'needs_sign_in',
  'waygate.setSecret': ({ secret }) => secret !== undefined,
  'waygate.reviewChanges': waitsForReview,
  'waygate.release': isQuarantined,
};

/** Runs each command on the folder of its row or document, or on the folder that the user chooses. */
export function folderCommands(folders: Folders): CommandHandlers<FolderCommandId> {
  const ids = Object.keys(COMMANDS).filter(
    (id) => !(id in ACTIVITY_COMMANDS || id in WINDOW_COMMANDS),
  ) as FolderCommandId[];
  const run = async (id: FolderCommandId, argument: unknown): Promise<void> => {
    const gateway = folderOf(folders, argument) ?? (await chooseFolder(folders, id));
    await gateway?.handlers[id](argument);
  };
  return Object.fromEntries(
    ids.map((id) => [id, (argument?: unknown) => run(id, argument)]),
  ) as CommandHandlers<FolderCommandId>;
}

/** Returns the folder of a row, of a button or of a document that a command was run on. */
function folderOf(folders: Folders, argument: unknown): FolderGateway | undefined {
  if (argument instanceof vscode.Uri) {
    if (SCHEMES.includes(argument.scheme)) return folders.named(argument.authority);
    const path = vscode.workspace.getWorkspaceFolder(argument)?.uri.fsPath;
    return folders.gateways.value.find(({ place }) => path !== undefined && place.path === path);
  }
  const name = typeof argument === 'object' && argument !== null && 'folder' in argument ? argument.folder : undefined;
  return typeof name === 'string' ? folders.named(name) : undefined;
}

async function chooseFolder(folders: Folders, id: FolderCommandId): Promise<FolderGateway | undefined> {
  const all = folders.gateways.value;
  if (FOR_NO_FOLDER.includes(id)) return all[0];
  const { served } = folders;
  const open = FOR_ANY_FOLDER.includes(id) || served.length === 0 ? all : served;
  const isFor = FOR_SERVERS[id];
  const concerned = isFor ? open.filter(({ view }) => serversOf(view.value).some(isFor)) : [];
  const candidates = concerned.length > 0 ? concerned : open;
  if (candidates.length <= 1) return candidates[0];
  const choices = candidates.map((gateway) => ({
    label: notificationText`${gateway.place.title}`,
    description: notificationText`${gateway.place.path ?? ''}`,
    detail: notificationText`${summarize(gateway.view.value).headline}`,
    gateway,
  }));
  const options = {
    title: notificationText`${commandTitle(id)}: Choose a Folder`,
    placeHolder: notificationText`Each folder has a gateway of its own`,
  };
  return (await pick(choices, options))?.gateway;
}
