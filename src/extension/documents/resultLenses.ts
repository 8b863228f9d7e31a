import * as vscode from 'vscode';
import { type CommandId, WAYGATE_SCHEME } from '../contributions.ts';
import { t } from '../l10n.ts';
import { type ResultStart, resultNameOf, resultPlace, segmentsOf } from './addresses.ts';
import type { ResultDocuments, ShownResult } from './resultDocuments.ts';
import { mayBeTable, partExtension, resultTitle } from './resultText.ts';

/** Buttons above a result: what it is, its parts, and what can be done with it. */
export class ResultLenses implements vscode.CodeLensProvider {
  readonly onDidChangeCodeLenses: vscode.Event<void>;
  readonly #documents: ResultDocuments;

  constructor(documents: ResultDocuments) {
    this.#documents = documents;
    this.onDidChangeCodeLenses = documents.onDidRead;
  }

  register(): vscode.Disposable {
    return vscode.languages.registerCodeLensProvider({ scheme: WAYGATE_SCHEME }, this);
  }

  provideCodeLenses({ uri }: vscode.TextDocument): vscode.CodeLens[] {
    const shown = this.#documents.shown(uri);
    if (!shown) return [];
    return lensesOf(shown, uri).map((command) => new vscode.CodeLens(new vscode.Range(0, 0, 0, 0), command));
  }
}

function lensesOf(shown: ShownResult, uri: vscode.Uri): vscode.Command[] {
  const { row, extension, from, to } = shown;
  const isDump = extension === 'hex';
  const isPart = !isDump && (from > 0 || to < row.size);
  const button = (command: CommandId, title: string): vscode.Command => ({ command, title, arguments: [uri] });
  const part = (title: string, start: ResultStart): vscode.Command => ({
    command: 'vscode.open',
    title,
    arguments: [partUri(uri, start)],
  });
  return [
    { command: '', title: resultTitle(row, extension, isPart ? { from, to } : undefined) },
    ...(isPart && to < row.size ? [part(t`Next part`, to), part(t`Last part`, 'last')] : []),
    ...(isPart ? [button('waygate.findInResult', t`Find in all of it…`)] : []),
    button('waygate.saveResult', t`Save As…`),
    ...(mayBeTable(extension) ? [button('waygate.viewTable', t`View as Table`)] : []),
    ...(isDump ? [] : [button('waygate.filterResult', t`Filter…`)]),
    button('waygate.copyHandle', t`Copy Handle`),
    ...(isDump ? [] : [button('waygate.copyViewCall', t`Copy tool_view call`)]),
    button('waygate.deleteResults', t`Delete`),
  ];
}

function partUri(uri: vscode.Uri, start: ResultStart): vscode.Uri {
  const [, file = ''] = segmentsOf(uri.path);
  const { handle = '', extension = 'txt' } = resultNameOf(file) ?? {};
  return vscode.Uri.from(resultPlace(uri.authority, { handle, extension: partExtension(extension), start }));
}
