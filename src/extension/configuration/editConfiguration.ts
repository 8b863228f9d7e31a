import * as vscode from 'vscode';
import type { FileLocation } from '../../control/contract.ts';
import { CONFIGURATION_PATH } from '../contributions.ts';
import { notificationText } from '../notificationText.ts';
import { toRange } from '../tree/toolsTree.ts';
import { notify } from '../windows.ts';
import { excluding, type JsonEdit, settingValue, switching } from './jsonEdits.ts';

/** Server with its place, as a snapshot has it. */
export interface ConfiguredServer {
  name: string;
  location?: FileLocation;
}

/** Switches a server off or on in the file that configures it. `workspace` is that of the snapshot. */
export function setDisabled(server: ConfiguredServer, workspace: string, disabled = true): Promise<void> {
  return editConfiguration(fileOf(server, workspace), (text) => switching(text, server.name, disabled));
}

/** Hides tools of a server from agents, by the names that the server gives them. */
export function excludeTools(server: ConfiguredServer, workspace: string, names: readonly string[]): Promise<void> {
  return editConfiguration(fileOf(server, workspace), (text) => excluding(text, server.name, { add: names }));
}

/** Offers tools of a server again that `excludeTools` has hidden. */
export function includeTools(server: ConfiguredServer, workspace: string, names: readonly string[]): Promise<void> {
  return editConfiguration(fileOf(server, workspace), (text) => excluding(text, server.name, { remove: names }));
}

/** Sets one value in a file. */
export function setValue(file: vscode.Uri, path: (string | number)[], value: unknown): Promise<void> {
  return editConfiguration(file, (text) => settingValue(text, path, value));
}

/**
 * Edits a waygate.json as the user would, so that undo works, and saves it. A file with unsaved changes stays unsaved,
 * because a half-written edit must not take effect.
 */
export async function editConfiguration(
  file: vscode.Uri,
  editsOf: (text: string) => readonly JsonEdit[],
): Promise<void> {
  const document = await vscode.workspace.openTextDocument(file);
  const wasDirty = document.isDirty;
  const edit = new vscode.WorkspaceEdit();
  for (const { offset, length, content } of editsOf(document.getText())) {
    const range = new vscode.Range(document.positionAt(offset), document.positionAt(offset + length));
    edit.replace(file, range, content);
  }
  if (edit.size === 0) return;
  if (!(await vscode.workspace.applyEdit(edit))) throw new Error(`The editor could not change ${file.fsPath}`);
  if (wasDirty) void notify('info', notificationText`Save ${CONFIGURATION_PATH} to apply the change.`);
  else if (!(await document.save())) throw new Error(`${file.fsPath} could not be saved`);
}

function fileOf({ name, location }: ConfiguredServer, workspace: string): vscode.Uri {
  if (!location) throw new Error(`No file configures ${name}`);
  return toRange(location, workspace).uri;
}
