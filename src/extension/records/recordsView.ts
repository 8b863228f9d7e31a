import * as vscode from 'vscode';
import type { RecordSourceRow, RecordSources } from '../../control/recordsContract.ts';
import { RECORDS_VIEW_ID } from '../contributions.ts';
import type { FolderGateway } from '../folders/folderGateway.ts';
import type { Folders } from '../folders/folders.ts';
import { sentenceOf } from '../gateway/gatewayLink.ts';
import { notificationText } from '../notificationText.ts';
import { createTree, tooltip, treeItem } from '../tree/treeRow.ts';
import { recordsMessage, sourceRow, sourceTooltip, streamRow } from './recordRows.ts';

/** Row of the view: a source of a folder, or one of its streams. */
export type RecordElement =
  | { kind: 'source'; folder: string; source: RecordSourceRow }
  | { kind: 'stream'; folder: string; connection: string; stream: RecordSourceRow['streams'][number] };

/** Tree *Records*: what the user grants to agents, by source. */
export class RecordsView implements vscode.TreeDataProvider<RecordElement>, vscode.Disposable {
  readonly #view: vscode.TreeView<RecordElement>;
  readonly #folders: Folders;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #parts: vscode.Disposable;
  #reports: readonly (readonly [FolderGateway, RecordSources])[] = [];

  constructor(folders: Folders) {
    this.#folders = folders;
    this.#view = createTree(RECORDS_VIEW_ID, { treeDataProvider: this });
    const onVisibility = this.#view.onDidChangeVisibility(({ visible }) => visible && void this.reload());
    this.#parts = vscode.Disposable.from(this.#view, this.#changed, onVisibility);
  }

  getTreeItem(element: RecordElement): vscode.TreeItem {
    if (element.kind === 'stream') return treeItem(streamRow(element.connection, element.stream), 'None');
    const { source } = element;
    return treeItem(sourceRow(source), source.streams.length > 0 ? 'Collapsed' : 'None');
  }

  resolveTreeItem(item: vscode.TreeItem, element: RecordElement): vscode.TreeItem {
    if (element.kind === 'source') item.tooltip = tooltip(sourceTooltip(element.source));
    return item;
  }

  getChildren(element?: RecordElement): RecordElement[] {
    if (element?.kind === 'stream') return [];
    if (element) {
      const { folder, source } = element;
      return source.streams.map((stream) => ({ kind: 'stream', folder, connection: source.connection, stream }));
    }
    return this.#reports.flatMap(([{ place }, { sources }]) =>
      sources.map((source): RecordElement => ({ kind: 'source', folder: place.name, source })),
    );
  }

  /** Asks each gateway again: opening the view, and a changed grant, are the only times when rows change. */
  async reload(): Promise<void> {
    const messages: string[] = [];
    const reports: [FolderGateway, RecordSources][] = [];
    for (const gateway of this.#folders.served) {
      try {
        const report = await gateway.link.request('records', {});
        reports.push([gateway, report]);
        const message = recordsMessage(report);
        if (message !== undefined) messages.push(gateway.titled(message));
      } catch (error) {
        messages.push(gateway.titled(sentenceOf(error)));
      }
    }
    this.#reports = reports;
    this.#view.message = notificationText`${messages.join(' ')}`;
    this.#changed.fire(undefined);
  }

  dispose(): void {
    this.#parts.dispose();
  }
}
