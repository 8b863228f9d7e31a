import * as vscode from 'vscode';
import { SECRET_NAME } from '../../config/secretReferences.ts';
import type { FileLocation } from '../../control/contract.ts';
import { CONFIGURATION_PATH } from '../contributions.ts';
import type { EditorSecrets } from '../gateway/editorSecrets.ts';
import { t } from '../l10n.ts';
import { notificationText } from '../notificationText.ts';
import { toRange } from '../tree/toolsTree.ts';
import { input, notify } from '../windows.ts';
import {
  EditRefused,
  excludedIn,
  excluding,
  type JsonEdit,
  literalSecretAt,
  settingValue,
  switching,
  valuePlace,
} from './jsonEdits.ts';
import { secretValue } from './language/keptSecrets.ts';

/** High enough for no agent to meet it by accident. */
const EXAMPLE_LIMIT = 60;

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

/** Returns the patterns that exclude tools of a server, as the file has them. */
export async function excludedTools(server: ConfiguredServer, workspace: string): Promise<readonly string[]> {
  const document = await vscode.workspace.openTextDocument(fileOf(server, workspace));
  return excludedIn(document.getText(), server.name);
}

/** Shows the limits in a file. Without any, writes an example for the user to change and save. */
export async function showLimits(file: vscode.Uri): Promise<void> {
  const example = { tool_execute: { maxCallsPerMinute: EXAMPLE_LIMIT } };
  await editConfiguration(
    file,
    (text) => (valuePlace(text, ['rateLimits']) ? [] : settingValue(text, ['rateLimits'], example)),
    { save: false },
  );
  const document = await vscode.workspace.openTextDocument(file);
  const place =
    valuePlace(document.getText(), ['rateLimits', 'tool_execute', 'maxCallsPerMinute']) ??
    valuePlace(document.getText(), ['rateLimits']);
  const { offset, length } = place ?? { offset: 0, length: 0 };
  const selection = new vscode.Range(document.positionAt(offset), document.positionAt(offset + length));
  await vscode.window.showTextDocument(document, { selection });
}

/** Keeps a literal secret in the editor's store under a name that the user chooses, and writes the reference to it. */
export async function moveSecret(
  file: vscode.Uri,
  position: vscode.Position,
  secrets: EditorSecrets,
  workspace: string,
): Promise<void> {
  const document = await vscode.workspace.openTextDocument(file);
  const offset = document.offsetAt(position);
  const literal = literalSecretAt(document.getText(), offset);
  if (!literal) throw new EditRefused(t`The text has no such secret any more`);
  const name = await input({
    title: notificationText`Waygate: Name of the Secret`,
    prompt: notificationText`The value moves into the secret store of this editor. The file keeps a reference to it.`,
    password: false,
    value: notificationText`${literal.name}`,
  });
  if (name === undefined) return;
  if (!SECRET_NAME.test(name)) throw new Error(t`A name has up to 100 letters, digits, "_", "." and "-"`);
  const kept = await secretValue(secrets, workspace, name);
  if (kept !== undefined && kept !== literal.value) {
    throw new Error(t`The secret ${name} has another value already; choose another name`);
  }
  await secrets.keep(name, literal.value);
  await editConfiguration(file, (text) => {
    const now = literalSecretAt(text, offset);
    if (now?.value !== literal.value) throw new EditRefused(t`The text has changed meanwhile; the secret is kept`);
    return settingValue(text, now.path, now.withReference(name));
  });
}

/**
 * Edits a waygate.json as the user would, so that undo works, and saves it. A file with unsaved changes stays unsaved,
 * because a half-written edit must not take effect.
 */
export async function editConfiguration(
  file: vscode.Uri,
  editsOf: (text: string) => readonly JsonEdit[],
  { save = true } = {},
): Promise<void> {
  const document = await vscode.workspace.openTextDocument(file);
  const wasDirty = document.isDirty;
  const edit = new vscode.WorkspaceEdit();
  for (const { offset, length, content } of editsOf(document.getText())) {
    const range = new vscode.Range(document.positionAt(offset), document.positionAt(offset + length));
    edit.replace(file, range, content);
  }
  if (edit.size === 0) return;
  if (!(await vscode.workspace.applyEdit(edit))) throw new Error(t`The editor could not change ${file.fsPath}`);
  if (!save) return;
  if (wasDirty) void notify('info', notificationText`Save ${CONFIGURATION_PATH} to apply the change.`);
  // The editor itself reports an error, such as a file that may not be written.
  else await document.save();
}

function fileOf({ name, location }: ConfiguredServer, workspace: string): vscode.Uri {
  if (!location) throw new Error(t`No file configures ${name}`);
  return toRange(location, workspace).uri;
}
