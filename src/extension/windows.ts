import * as vscode from 'vscode';
import { type CommandId, TOOLS_VIEW_ID } from './contributions.ts';
import { type NotificationText, notificationText } from './notificationText.ts';
import { commandTitle } from './plainText.ts';
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
  return { title: notificationText`${commandTitle(id)}`, run: () => runCommand(id, folder) };
}

/** Shows a message with buttons and runs the one that the user clicks. The button of a command has the command's title. */
export async function notify(
  severity: keyof typeof SHOW,
  message: NotificationText,
  ...offers: readonly (CommandId | Offer)[]
): Promise<void> {
  const items = offers.map((offer) =>
    typeof offer === 'string' ? { title: commandTitle(offer), run: () => runCommand(offer) } : offer,
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

/**
 * Shows a notification with a link to a command until the end. VS Code does not put it away meanwhile. `message` must
 * consist of own words and plain names: a foreign bracket could begin the link earlier.
 */
export function showWaiting(
  message: NotificationText,
  link: { label: NotificationText; command: CommandId },
  end: Promise<unknown>,
  onCancel: () => void,
): void {
  const title = `${message} [${link.label}](command:${link.command})`;
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  void vscode.window.withProgress(options, async (_, token) => {
    token.onCancellationRequested(onCancel);
    await end;
  });
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

/** List that stays open without the focus, with a button beside its title that puts it aside. */
export interface OpenPick<T> {
  /** Resolves to the chosen item; undefined if the user or `close` hides the list. */
  chosen: Promise<T | undefined>;
  setTitle(title: NotificationText): void;
  close(): void;
}

export function openPick<T extends Choice>(
  choices: readonly T[],
  options: PickOptions,
  button: { icon: string; tooltip: NotificationText; run(): unknown },
): OpenPick<T> {
  const list = vscode.window.createQuickPick<T>();
  Object.assign(list, { title: options.title, placeholder: options.placeHolder, ignoreFocusOut: true });
  list.items = choices;
  list.activeItems = choices.slice(0, 1);
  list.buttons = [{ iconPath: new vscode.ThemeIcon(button.icon), tooltip: button.tooltip }];
  list.onDidTriggerButton(() => {
    // The list would cover what the button shows.
    list.hide();
    button.run();
  });
  const chosen = new Promise<T | undefined>((resolve) => {
    list.onDidAccept(() => {
      resolve(list.activeItems[0]);
      list.hide();
    });
    list.onDidHide(() => {
      resolve(undefined);
      list.dispose();
    });
  });
  list.show();
  return {
    chosen,
    setTitle: (title) => {
      list.title = title;
    },
    close: () => list.hide(),
  };
}

/** Way to search, with the button that switches to it. */
export interface SearchMode<T> {
  title: NotificationText;
  placeHolder: NotificationText;
  icon: string;
  /** Time without a key before the search. */
  delayMs: number;
  find(query: string): Promise<readonly T[]>;
}

export interface SearchOptions<T> {
  title: NotificationText;
  modes: readonly SearchMode<T>[];
  /** Button on each row. */
  button?: { title: NotificationText; icon: string; run(chosen: T, query: string): void };
}

/** Lets the user search, and returns the row that the user accepts. */
export function search<T extends Choice>({ title, modes, button }: SearchOptions<T>): Promise<T | undefined> {
  const box = vscode.window.createQuickPick<T & vscode.QuickPickItem>();
  const rowButtons = button && [{ iconPath: new vscode.ThemeIcon(button.icon), tooltip: button.title }];
  let mode = 0;
  let latest = 0;
  let timer: NodeJS.Timeout | undefined;
  const find = async (): Promise<void> => {
    latest += 1;
    const own = latest;
    box.busy = true;
    const found = await modes[mode]?.find(box.value).catch(() => []);
    if (own !== latest) return;
    box.items = (found ?? []).map((item) => ({
      ...item,
      // The search has filtered already.
      alwaysShow: true,
      ...(rowButtons && { buttons: rowButtons }),
    }));
    box.busy = false;
  };
  const show = (): void => {
    const other = modes[(mode + 1) % modes.length];
    box.placeholder = modes[mode]?.placeHolder;
    box.buttons = other ? [{ iconPath: new vscode.ThemeIcon(other.icon), tooltip: other.title }] : [];
    void find();
  };
  box.title = title;
  return new Promise((resolve) => {
    box.onDidChangeValue(() => {
      clearTimeout(timer);
      timer = setTimeout(() => void find(), modes[mode]?.delayMs ?? 0);
    });
    box.onDidTriggerButton(() => {
      mode = (mode + 1) % modes.length;
      show();
    });
    box.onDidTriggerItemButton(({ item }) => button?.run(item, box.value));
    box.onDidAccept(() => {
      resolve(box.selectedItems[0]);
      box.hide();
    });
    box.onDidHide(() => {
      clearTimeout(timer);
      resolve(undefined);
      box.dispose();
    });
    show();
    box.show();
  });
}

/** Lets the user choose among grouped rows. `titleOf` describes the present choice. */
export function chooseGrouped<T extends Choice & { group: string }>(
  choices: readonly T[],
  { titleOf, placeHolder }: { titleOf(chosen: readonly T[]): NotificationText; placeHolder: NotificationText },
): Promise<readonly T[] | undefined> {
  type Item = vscode.QuickPickItem & { choice?: T };
  const box = vscode.window.createQuickPick<Item>();
  const items: Item[] = [];
  let group = '';
  for (const choice of choices) {
    if (choice.group !== group)
      items.push({ label: notificationText`${choice.group}`, kind: vscode.QuickPickItemKind.Separator });
    group = choice.group;
    items.push({ label: choice.label, ...(choice.description && { description: choice.description }), choice });
  }
  const chosen = (): T[] => box.selectedItems.flatMap(({ choice }) => choice ?? []);
  box.canSelectMany = true;
  box.placeholder = placeHolder;
  box.ignoreFocusOut = true;
  box.items = items;
  box.selectedItems = items.filter(({ choice }) => choice?.picked === true);
  box.title = titleOf(choices.filter(({ picked }) => picked === true));
  return new Promise((resolve) => {
    box.onDidChangeSelection(() => {
      box.title = titleOf(chosen());
    });
    box.onDidAccept(() => {
      resolve(chosen());
      box.hide();
    });
    box.onDidHide(() => {
      resolve(undefined);
      box.dispose();
    });
    box.show();
  });
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

/** Asks for a file or a folder, which must exist. */
export async function choosePath(title: NotificationText, kind: 'file' | 'folder'): Promise<vscode.Uri | undefined> {
  const isFolder = kind === 'folder';
  const [chosen] =
    (await vscode.window.showOpenDialog({ title, canSelectFiles: !isFolder, canSelectFolders: isFolder })) ?? [];
  return chosen;
}

/** Asks for the place of a copy. `name` is offered in the first workspace folder. */
export function saveAs(title: NotificationText, name: string): Thenable<vscode.Uri | undefined> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  return vscode.window.showSaveDialog({
    title,
    ...(folder && { defaultUri: vscode.Uri.joinPath(folder, name) }),
  });
}
