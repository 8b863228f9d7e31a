import * as vscode from 'vscode';
import { COMMANDS, EXTENSION_TITLE } from '../contributions.ts';
import type { FolderView } from '../folders/folders.ts';
import { markdownText } from '../notificationText.ts';
import type { Disposable, Observable } from '../observable.ts';
import { type StatusBarModel, statusBarModel } from './statusBarModel.ts';

/** Shows the gateway's health in the status bar. The id is stable, so that the user can hide the item permanently. */
export function showStatusBar(folders: Observable<readonly FolderView[]>): Disposable {
  const item = vscode.window.createStatusBarItem('waygate.health', vscode.StatusBarAlignment.Left);
  item.name = 'Waygate Health';
  item.command = 'waygate.openDashboard';
  let shown = '';
  const update = (views: readonly FolderView[]): void => {
    const model = statusBarModel(views);
    const next = JSON.stringify(model);
    if (next === shown) return;
    shown = next;
    show(item, model);
  };
  update(folders.value);
  return vscode.Disposable.from(item, folders.onChange(update));
}

function show(item: vscode.StatusBarItem, model: StatusBarModel): void {
  if (!model.visible) {
    item.hide();
    return;
  }
  item.text = model.text;
  item.backgroundColor = model.warning ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
  item.accessibilityInformation = { label: model.accessibilityLabel, role: 'button' };
  item.tooltip = tooltip(model);
  item.show();
}

function tooltip(model: StatusBarModel): vscode.MarkdownString {
  const markdown = new vscode.MarkdownString();
  markdown.isTrusted = { enabledCommands: model.links };
  markdown.appendMarkdown(markdownText`**${EXTENSION_TITLE}**\n\n${model.headline}\n`);
  for (const problem of model.problems) markdown.appendMarkdown(markdownText`\n- ${problem}`);
  markdown.appendMarkdown(markdownText`\n\n---\n\n`);
  for (const [index, id] of model.links.entries()) {
    if (index > 0) markdown.appendMarkdown(markdownText` · `);
    markdown.appendMarkdown(markdownText`[${COMMANDS[id].title}](command:${id})`);
  }
  return markdown;
}
