import * as vscode from 'vscode';
import {
  type FromTable,
  parseFromTable,
  TABLE_PAGE_ROWS,
  type TableAction,
  type TableQuery,
  type TableState,
  type ToTable,
} from '../../control/tableMessages.ts';
import { visibleText } from '../../text/visibleText.ts';
import { TABLE_VIEW_TYPE } from '../contributions.ts';
import { tablePage } from '../dashboard/dashboardPage.ts';
import { sentenceOf } from '../gateway/gatewayLink.ts';
import { t } from '../l10n.ts';
import { notificationText } from '../notificationText.ts';
import type { ResultKey } from './resultActions.ts';
import { describeResult } from './resultDocuments.ts';
import { asCsv, asMarkdown } from './tableText.ts';
import type { DocumentGateway } from './waygateFiles.ts';

const WRANGLER = { extension: 'ms-toolsai.datawrangler', editor: 'jupyter-data-wrangler' };

/** Pages that show results as tables. The worker sorts and filters, so that the whole result counts. */
export class TablePanels implements vscode.Disposable {
  readonly #gatewayOf: (folder: string) => DocumentGateway;
  readonly #extensionUri: vscode.Uri;
  /** Saves a result and returns its file; undefined if the user cancels. */
  readonly #save: (result: ResultKey) => Promise<vscode.Uri | undefined>;
  readonly #panels = new Map<string, vscode.WebviewPanel>();

  constructor(
    gatewayOf: (folder: string) => DocumentGateway,
    extensionUri: vscode.Uri,
    save: (result: ResultKey) => Promise<vscode.Uri | undefined>,
  ) {
    this.#gatewayOf = gatewayOf;
    this.#extensionUri = extensionUri;
    this.#save = save;
  }

  async open(result: ResultKey): Promise<void> {
    const key = JSON.stringify(result);
    const shown = this.#panels.get(key);
    if (shown) return shown.reveal();
    const { row } = await describeResult(this.#gatewayOf(result.folder), result.handle);
    const title = notificationText`${(row.toolId ?? row.label).replace(/^[^:]*:|#[0-9a-f]{8}$/g, '')}`;
    const panel = vscode.window.createWebviewPanel(TABLE_VIEW_TYPE, title, vscode.ViewColumn.Active, {
      enableScripts: true,
      retainContextWhenHidden: false,
      localResourceRoots: [this.#file()],
    });
    this.#panels.set(key, panel);
    panel.onDidDispose(() => this.#panels.delete(key));
    this.#serve(panel, result, title);
  }

  dispose(): void {
    for (const panel of this.#panels.values()) panel.dispose();
  }

  #serve(panel: vscode.WebviewPanel, result: ResultKey, title: string): void {
    const { webview } = panel;
    let state: TableState = {
      title,
      query: { start: 1 },
      columns: [],
      rows: [],
      total: 0,
      wrangler: vscode.extensions.getExtension(WRANGLER.extension) !== undefined,
    };
    let asked = 0;
    const show = async (query: TableQuery): Promise<void> => {
      const turn = ++asked;
      const next = await this.#page(result, query).catch((error: unknown) => ({ reason: sentenceOf(error) }));
      // A later question has a later answer.
      if (turn !== asked) return;
      const { reason: _, ...before } = state;
      state = { ...before, ...next, query };
      void webview.postMessage({ type: 'state', state } satisfies ToTable);
    };
    const receive = (message: FromTable | undefined): void => {
      if (message?.type === 'ready') void show(state.query);
      else if (message?.type === 'query') void show(message.query);
      else if (message?.type === 'action') void this.#act(message.action, result, state);
    };
    const listening = webview.onDidReceiveMessage((message) => receive(parseFromTable(message)));
    panel.onDidDispose(() => listening.dispose());
    const sources = {
      cspSource: webview.cspSource,
      script: String(webview.asWebviewUri(this.#file('table.js'))),
      style: String(webview.asWebviewUri(this.#file('table.css'))),
    };
    webview.html = tablePage(sources);
  }

  async #page(
    { folder, handle }: ResultKey,
    query: TableQuery,
  ): Promise<Pick<TableState, 'columns' | 'rows' | 'total'>> {
    const { start, ...rest } = query;
    const selector = { type: 'table', start, end: start + TABLE_PAGE_ROWS, ...rest };
    const answer = await this.#gatewayOf(folder).request('selectArtifact', { handle, selector });
    if ('reason' in answer) throw new Error(answer.reason);
    const { columns, rows, total } = answer;
    if (!columns || !rows) throw new Error(t`This result is no table`);
    return { columns: columns.map(visibleText), rows: rows.map((row) => row.map(visibleText)), total: total ?? 0 };
  }

  async #act(action: TableAction, result: ResultKey, { columns, rows }: TableState): Promise<void> {
    switch (action) {
      case 'copyCsv':
        return vscode.env.clipboard.writeText(asCsv(columns, rows));
      case 'copyMarkdown':
        return vscode.env.clipboard.writeText(asMarkdown(columns, rows));
      case 'saveAs':
        await vscode.commands.executeCommand('waygate.saveResult', result);
        return;
      case 'openWrangler': {
        const file = await this.#save(result);
        if (file) await vscode.commands.executeCommand('vscode.openWith', file, WRANGLER.editor);
      }
    }
  }

  #file(...path: string[]): vscode.Uri {
    return vscode.Uri.joinPath(this.#extensionUri, 'dist', 'webview', ...path);
  }
}
