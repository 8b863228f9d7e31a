import * as vscode from 'vscode';
import type { ArtifactPage, ArtifactRow } from '../../control/artifactContract.ts';
import { RESULTS_VIEW_ID } from '../contributions.ts';
import type { FolderGateway } from '../folders/folderGateway.ts';
import type { Folders } from '../folders/folders.ts';
import { sentenceOf } from '../gateway/gatewayLink.ts';
import { throttled } from '../gateway/pacing.ts';
import { t } from '../l10n.ts';
import { notificationText } from '../notificationText.ts';
import { createTree, tooltip, treeItem } from '../tree/treeRow.ts';
import type { AllCalls } from './allCalls.ts';
import {
  groupedResults,
  type ResultGroup,
  resultGroupRow,
  resultRow,
  resultTooltip,
  useMessage,
} from './resultRows.ts';

export type ResultElement =
  | { kind: 'result'; folder: string; handle: string; row: ArtifactRow }
  | { kind: 'results'; folder: string; group: ResultGroup };

const RELOAD_INTERVAL_MS = 1_000;
const AGE_INTERVAL_MS = 60_000;
const MAX_LISTED = 500;

/** Tree *Results*: what is kept, by call. */
export class ResultsView implements vscode.TreeDataProvider<ResultElement>, vscode.Disposable {
  readonly view: vscode.TreeView<ResultElement>;
  readonly #folders: Folders;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #parts: vscode.Disposable;
  readonly #pages = new Map<FolderGateway, ArtifactPage>();
  /** Key of the rows as they were drawn: a redrawn tree swallows a click in progress. */
  #drawn = '';
  readonly #reload = throttled(RELOAD_INTERVAL_MS, () => {
    if (this.view.visible) void this.reload();
  });

  constructor(calls: AllCalls, folders: Folders) {
    this.#folders = folders;
    this.view = createTree(RESULTS_VIEW_ID, { treeDataProvider: this, canSelectMany: true });
    const clock = setInterval(() => this.view.visible && this.#changed.fire(undefined), AGE_INTERVAL_MS);
    this.#parts = vscode.Disposable.from(
      this.view,
      this.#changed,
      this.#reload,
      new vscode.Disposable(() => clearInterval(clock)),
      this.view.onDidChangeVisibility(this.#reload),
      calls.onChange((change) => {
        if (change === 'all' || change.some(({ handles }) => handles.length > 0)) this.#reload();
      }),
    );
    this.#reload();
  }

  getTreeItem(element: ResultElement): vscode.TreeItem {
    if (element.kind === 'results') return treeItem(resultGroupRow(element.group, Date.now()), 'Collapsed');
    const item = treeItem(resultRow(element.row, Date.now()), 'None');
    item.command = {
      command: 'waygate.openResult',
      title: t`Open Result`,
      arguments: [{ folder: element.folder, handle: element.handle }],
    };
    return item;
  }

  resolveTreeItem(item: vscode.TreeItem, element: ResultElement): vscode.TreeItem {
    if (element.kind === 'result') item.tooltip = tooltip(resultTooltip(element.row));
    return item;
  }

  getChildren(element?: ResultElement): ResultElement[] {
    if (element?.kind === 'result') return [];
    if (element) return element.group.results.map((row) => resultElement(element.folder, row));
    return [...this.#pages].flatMap(
      ([
        {
          place: { name },
        },
        { artifacts },
      ]) =>
        groupedResults(artifacts).map((group): ResultElement => {
          const [only, second] = group.results;
          return only && !second ? resultElement(name, only) : { kind: 'results', folder: name, group };
        }),
    );
  }

  async reload(): Promise<void> {
    const { served } = this.#folders;
    for (const gone of [...this.#pages.keys()].filter((one) => !served.includes(one))) this.#pages.delete(gone);
    const messages: string[] = [];
    for (const gateway of served) {
      try {
        const page = await gateway.link.request('artifacts', { limit: MAX_LISTED });
        this.#pages.set(gateway, page);
        messages.push(gateway.titled(useMessage(page)));
      } catch (error) {
        // The rows stay while a worker is replaced.
        messages.push(gateway.titled(sentenceOf(error)));
      }
    }
    this.view.message = notificationText`${messages.join(' ')}`;
    const rows = [...this.#pages].flatMap(([{ place }, { artifacts }]) => artifacts.map((row) => ({ place, row })));
    const key = JSON.stringify(rows.map(({ place, row: { handle, at } }) => [place.name, handle, at]));
    if (key === this.#drawn) return;
    this.#drawn = key;
    this.#changed.fire(undefined);
  }

  dispose(): void {
    this.#parts.dispose();
  }
}

function resultElement(folder: string, row: ArtifactRow): ResultElement {
  return { kind: 'result', folder, handle: row.handle, row };
}
