import * as vscode from 'vscode';
import { COMMANDS, type CommandId, TOOLS_VIEW_ID } from './contributions.ts';
import { type NotificationText, notificationText } from './notificationText.ts';
import { runCommand } from './registrations.ts';

// The only calls of VS Code's messages and inputs. Their types admit no text that `notificationText` did not make (M6.8).

const SHOW = {
  info: vscode.window.showInformationMessage,
  warning: vscode.window.showWarningMessage,
  error: vscode.window.showErrorMessage,
};

export interface Offer {
  title: NotificationText;
  run(): Thenable<unknown>;
}

/** Offers a command on a folder. */
export function onFolder(folder: string, id: CommandId): Offer {
  return { title: notificationText`${COMMANDS[id].title}`, run: () => runCommand(id, folder) };
}

/** Shows a message with buttons and runs the one that the user clicks. The button of a command has the command's title. */
export async function notify(
  severity: keyof typeof SHOW,
  message: NotificationText,
  ...offers: readonly (CommandId | Offer)[]
): Promise<void> {
  const items = offers.map((offer) =>
    typeof offer === 'string' ? { title: COMMANDS[offer].title, run: () => runCommand(offer) } : offer,
  );
  await (await SHOW[severity](message, ...items))?.run();
}

/**
 * Asks in a dialog, which shows each line of the detail and renders no link. Its first answer has the focus, so that a
 * key pressed at the wrong moment chooses the harmless answer if that comes first.
 */
export function ask<T extends { title: NotificationText }>(
  question: NotificationText,
  detail: NotificationText,
  answers: readonly T[],
): Thenable<T | undefined> {
  return SHOW.warning(question, { modal: true, detail }, ...answers);
}

/** Shows a notification until the end of the work. */
export function showProgress<T>(title: NotificationText, end: Promise<T>): Thenable<T> {
  return vscode.window.withProgress({ location: vscode.ProgressLocation.Notification, title }, () => end);
}

/** Shows in the view *Tools* that work is going on. */
export function showBusy(action: () => Promise<void>): Promise<void> {
  return Promise.resolve(vscode.window.withProgress({ location: { viewId: TOOLS_VIEW_ID } }, action));
}

export interface Choice {
  label: NotificationText;
  description?: NotificationText;
  detail?: NotificationText;
  picked?: boolean;
}

export interface PickOptions {
  title: NotificationText;
  placeHolder?: NotificationText;
  ignoreFocusOut?: boolean;
  matchOnDescription?: boolean;
}

export function pick<T extends Choice>(choices: readonly T[], options: PickOptions): Thenable<T | undefined> {
  return vscode.window.showQuickPick([...choices], { ...options });
}

export function pickMany<T extends Choice>(choices: readonly T[], options: PickOptions): Thenable<T[] | undefined> {
  return vscode.window.showQuickPick([...choices], { ...options, canPickMany: true });
}

export interface InputOptions {
  title: NotificationText;
  prompt: NotificationText;
  password: boolean;
  value?: NotificationText;
}

export function input(options: InputOptions): Thenable<string | undefined> {
  return vscode.window.showInputBox({ ...options, ignoreFocusOut: true });
}

/** Asks for the place of a copy. `name` is offered in the first workspace folder. */
export function saveAs(title: NotificationText, name: string): Thenable<vscode.Uri | undefined> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  return vscode.window.showSaveDialog({
    title,
    ...(folder && { defaultUri: vscode.Uri.joinPath(folder, name) }),
  });
}
