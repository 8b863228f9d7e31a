import * as vscode from 'vscode';
import { COMMANDS, EXTENSION_TITLE } from '../contributions.ts';
import type { Disposable, Observable } from '../observable.ts';
import { escapeMarkdown } from '../plainText.ts';
import type { GatewayView } from './health.ts';
import { type StatusBarModel, statusBarModel } from './statusBarModel.ts';

/** Shows the gateway's health in the status bar. The id is stable, so that the user can hide the item permanently. */
export function showStatusBar(gateway: Observable<GatewayView>): Disposable {
  const item = vscode.window.createStatusBarItem('waygate.health', vscode.StatusBarAlignment.Left);
  item.name = 'Waygate Health';
  item.command = 'waygate.openDashboard';
  let shown = '';
  const update = (view: GatewayView): void => {
    const model = statusBarModel(view);
    const next = JSON.stringify(model);
    if (next === shown) return;
    shown = next;
    show(item, model);
  };
  update(gateway.value);
  return vscode.Disposable.from(item, gateway.onChange(update));
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
  // Escaped, because a server's message must not contain a link to a command.
  const problems = model.problems.map((problem) => `\n- ${escapeMarkdown(problem)}`).join('');
  markdown.appendMarkdown(`**${EXTENSION_TITLE}**\n\n${escapeMarkdown(model.headline)}\n${problems}`);
  const links = model.links.map((id) => `[${COMMANDS[id].title}](command:${id})`);
  markdown.appendMarkdown(`\n\n---\n\n${links.join(' · ')}`);
  return markdown;
}
