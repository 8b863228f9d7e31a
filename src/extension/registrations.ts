import * as vscode from 'vscode';
import {
  COMMANDS,
  type CommandId,
  type ContextKeyId,
  type ContextKeyTypes,
  type SettingId,
  type SettingTypes,
} from './contributions.ts';

/** Handlers by contributed command; a missing handler does not compile. */
export type CommandHandlers<K extends CommandId = CommandId> = Record<K, (argument?: unknown) => Promise<void>>;

export function registerCommands(handlers: CommandHandlers): vscode.Disposable {
  const ids = Object.keys(COMMANDS) as CommandId[];
  return vscode.Disposable.from(...ids.map((id) => vscode.commands.registerCommand(id, handlers[id])));
}

/** Runs a command, on a folder if one is given; otherwise the user chooses among several. */
export function runCommand(id: CommandId, folder?: string): Thenable<unknown> {
  return vscode.commands.executeCommand(id, ...(folder === undefined ? [] : [{ folder }]));
}

export function setContextKey<K extends ContextKeyId>(key: K, value: ContextKeyTypes[K] | undefined): void {
  void vscode.commands.executeCommand('setContext', key, value);
}

export function readSetting<K extends SettingId>(id: K): SettingTypes[K] | undefined {
  return vscode.workspace.getConfiguration().get<SettingTypes[K]>(id);
}
