import * as vscode from 'vscode';
import { COMMANDS, EXTENSION_TITLE } from '../contributions.ts';
import type { FolderView } from '../folders/folders.ts';
import { markdownText } from '../notificationText.ts';
import type { Disposable, Observable } from '../observable.ts';
import { type StatusBarModel, type StatusBarNeed, statusBarModel } from './statusBarModel.ts';

/** Shows the gateway's health in the status bar. The id is stable, so that the user can hide the item permanently. */
export function showStatusBar(folders: Observable<readonly FolderView[]>): Disposable {
  const item = vscode.window.createStatusBarItem('waygate.health', vscode.StatusBarAlignment.Left);
  item.name = 'Waygate Health';
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
  item.command = model.command;
  item.backgroundColor = model.warning ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined;
  item.accessibilityInformation = { label: model.accessibilityLabel, role: 'button' };
  item.tooltip = tooltip(model);
  item.show();
}

function tooltip({ headline, context, needs, links }: StatusBarModel): vscode.MarkdownString {
  const markdown = new vscode.MarkdownString();
  const commands = needs.flatMap(({ link }) => (link ? [link.command] : []));
  markdown.isTrusted = { enabledCommands: [...new Set([...commands, ...links])] };
  markdown.appendMarkdown(markdownText`**${EXTENSION_TITLE}**\n\n${headline}\n`);
  for (const line of context) markdown.appendMarkdown(markdownText`\n${line}\n`);
  if (needs.length > 0) markdown.appendMarkdown(markdownText`\n**Needs you**\n`);
  for (const { text, link } of needs) {
    markdown.appendMarkdown(markdownText`\n- ${text}`);
    if (link) markdown.appendMarkdown(markdownText` [${link.label}](${commandAddress(link)})`);
  }
  markdown.appendMarkdown(markdownText`\n\n---\n\n`);
  for (const [index, id] of links.entries()) {
    if (index > 0) markdown.appendMarkdown(markdownText` · `);
    markdown.appendMarkdown(markdownText`[${COMMANDS[id].title}](command:${id})`);
  }
  return markdown;
}

/** Returns the address of a command on the row of a server. */
function commandAddress({ command, folder, server }: NonNullable<StatusBarNeed['link']>): string {
  if (server === undefined) return `command:${command}`;
  const { name, location } = server;
  const row = JSON.stringify([{ kind: 'server', folder, server: { name, location } }]);
  return `command:${command}?${encodeURIComponent(row)}`;
}
