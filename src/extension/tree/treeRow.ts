import * as vscode from 'vscode';
import { visibleText } from '../../text/visibleText.ts';
import { markdownText, type NotificationText } from '../notificationText.ts';

/** Row of a tree view, with cleaned text only. */
export interface Row {
  /** Stable over refreshes, so that the editor keeps the expansion and the selection. */
  id: string;
  label: NotificationText;
  description: NotificationText;
  icon: { id: string; color?: string };
  contextValue: string;
  accessibilityLabel: NotificationText;
}

export interface TooltipPart {
  style: 'title' | 'code' | 'text';
  text: string;
}

export function createTree<T>(id: string, options: vscode.TreeViewOptions<T>): vscode.TreeView<T> {
  return vscode.window.createTreeView(id, options);
}

export function treeItem(row: Row, state: keyof typeof vscode.TreeItemCollapsibleState): vscode.TreeItem {
  const item = new vscode.TreeItem(row.label, vscode.TreeItemCollapsibleState[state]);
  item.id = row.id;
  item.description = row.description;
  item.iconPath = new vscode.ThemeIcon(row.icon.id, row.icon.color ? new vscode.ThemeColor(row.icon.color) : undefined);
  item.contextValue = row.contextValue;
  item.accessibilityInformation = { label: row.accessibilityLabel };
  return item;
}

export function tooltip(parts: readonly TooltipPart[]): vscode.MarkdownString {
  const markdown = new vscode.MarkdownString();
  for (const { style, text } of parts) {
    if (style === 'code') markdown.appendCodeblock(visibleText(text), 'text');
    else if (style === 'text') markdown.appendMarkdown(markdownText`${text}\n\n`);
    else markdown.appendMarkdown(markdownText`**${text}**\n\n`);
  }
  return markdown;
}
