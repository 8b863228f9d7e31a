import { findNodeAtOffset } from 'jsonc-parser';
import * as vscode from 'vscode';
import type { CommandId } from '../../contributions.ts';
import { t } from '../../l10n.ts';
import { notificationText } from '../../notificationText.ts';
import { commandTitle } from '../../plainText.ts';
import { type ConfigurationDocuments, rangeOf, SELECTOR } from './configurationDocuments.ts';
import type { ConfigurationDiagnostics } from './diagnostics.ts';
import type { EditorProblem } from './problems.ts';
import { serverButtons } from './serverWords.ts';

const MOVE_SECRET: CommandId = 'waygate.moveSecret';
const SWITCH_OFF: CommandId = 'waygate.switchOff';

/** Offers the mending of a problem beside its text. */
export class ConfigurationFixes implements vscode.CodeActionProvider {
  readonly #documents: ConfigurationDocuments;
  readonly #diagnostics: ConfigurationDiagnostics;

  constructor(documents: ConfigurationDocuments, diagnostics: ConfigurationDiagnostics) {
    this.#documents = documents;
    this.#diagnostics = diagnostics;
  }

  register(): vscode.Disposable {
    const providedCodeActionKinds = [vscode.CodeActionKind.QuickFix];
    return vscode.languages.registerCodeActionsProvider(SELECTOR, this, { providedCodeActionKinds });
  }

  provideCodeActions(
    document: vscode.TextDocument,
    _range: vscode.Range,
    { diagnostics }: vscode.CodeActionContext,
  ): vscode.CodeAction[] {
    return diagnostics.flatMap((diagnostic) => {
      const problem = this.#diagnostics.problemOf(diagnostic);
      const actions = problem ? this.#actionsFor(problem, diagnostic, document) : [];
      for (const action of actions) action.diagnostics = [diagnostic];
      return actions;
    });
  }

  #actionsFor(
    problem: EditorProblem,
    { range }: vscode.Diagnostic,
    document: vscode.TextDocument,
  ): vscode.CodeAction[] {
    const { meant, code, server } = problem;
    if (meant) return this.#renames(meant, range, document);
    if (code === 'clear_secret') {
      const title = t`Use \${secret:…}…`;
      const command = {
        command: MOVE_SECRET,
        title,
        arguments: [{ folder: this.#documents.folder, uri: document.uri.toString(), at: range.start }],
      };
      return [actionOf(title, command)];
    }
    if (!server) return [];
    const { status } = server;
    const switchOff = commandTitle(SWITCH_OFF);
    return [
      ...serverButtons(status).map(({ title, command }) =>
        actionOf(title, this.#documents.commandOn(status.name, command, title)),
      ),
      actionOf(switchOff, this.#documents.commandOn(status.name, SWITCH_OFF, switchOff)),
    ];
  }

  /** The text may have changed since the gateway read it: the wrong word must still be there. */
  #renames(
    { written, instead }: NonNullable<EditorProblem['meant']>,
    range: vscode.Range,
    document: vscode.TextDocument,
  ): vscode.CodeAction[] {
    const { root } = this.#documents.read(document);
    const node = root && findNodeAtOffset(root, document.offsetAt(range.start));
    if (node?.value !== written) return [];
    const action = new vscode.CodeAction(notificationText`Change to "${instead}"`, vscode.CodeActionKind.QuickFix);
    action.edit = new vscode.WorkspaceEdit();
    action.edit.replace(document.uri, rangeOf(document, node), JSON.stringify(instead));
    action.isPreferred = true;
    return [action];
  }
}

function actionOf(title: string, command: vscode.Command): vscode.CodeAction {
  const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
  action.command = command;
  return action;
}
