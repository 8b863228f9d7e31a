import * as vscode from 'vscode';
import { EXTENSION_TITLE } from '../contributions.ts';
import type { FolderView } from '../folders/folders.ts';
import { t } from '../l10n.ts';
import { commandLink, markdownLine, markdownText, paragraph } from '../notificationText.ts';
import type { Disposable, Observable } from '../observable.ts';
import { commandTitle } from '../plainText.ts';
import { type StatusBarModel, type StatusBarNeed, statusBarModel } from './statusBarModel.ts';

/** Shows the gateway's health in the status bar. The id is stable, so that the user can hide the item permanently. */
export function showStatusBar(folders: Observable<readonly FolderView[]>): Disposable {
  const item = vscode.window.createStatusBarItem('waygate.health', vscode.StatusBarAlignment.Left);
  item.name = t`Waygate Health`;
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
  if (needs.length > 0) markdown.appendMarkdown(markdownText`\n**${t`Needs you`}**\n`);
  for (const { text, link } of needs) {
    markdown.appendMarkdown(markdownText`\n- ${text}`);
    if (!link) continue;
    markdown.appendMarkdown(markdownText` `);
    markdown.appendMarkdown(commandLink(link.label, link.command, rowOf(link)));
  }
  markdown.appendMarkdown(markdownText`\n\n---\n\n`);
  const line = markdownLine(links.map((id) => commandLink(commandTitle(id), id)));
  markdown.appendMarkdown(paragraph(line));
  return markdown;
}

/** Returns the row of a server as its commands take it. */
function rowOf({ folder, server }: NonNullable<StatusBarNeed['link']>): object | undefined {
  if (server === undefined) return undefined;
  const { name, location } = server;
  return { kind: 'server', folder, server: { name, location } };
}
