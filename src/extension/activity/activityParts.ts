import * as vscode from 'vscode';
import { guardedBy } from '../commands.ts';
import type { ActivityCommandId } from '../contributions.ts';
import { CallDocuments } from '../documents/callDocuments.ts';
import { logDocuments, rankedDocuments, toolDocuments } from '../documents/gatewayDocuments.ts';
import { foundDocuments, ResultActions, type ResultKey } from '../documents/resultActions.ts';
import { ResultDocuments } from '../documents/resultDocuments.ts';
import { ResultLenses } from '../documents/resultLenses.ts';
import { TablePanels } from '../documents/tablePanel.ts';
import { type DocumentGateway, WaygateFiles } from '../documents/waygateFiles.ts';
import type { Folders } from '../folders/folders.ts';
import type { CommandHandlers } from '../registrations.ts';
import type { ToolsTree } from '../tree/toolsTree.ts';
import { ActivityActions, toolIdOf } from './activityCommands.ts';
import { ActivityView } from './activityView.ts';
import { AllCalls } from './allCalls.ts';
import { type ResultElement, ResultsView } from './resultsView.ts';

/** Views *Activity* and *Results* of all folders, with the documents that they open. */
export class ActivityParts implements vscode.Disposable {
  /** File system of the documents, for further providers. */
  readonly files: WaygateFiles;
  readonly handlers: CommandHandlers<ActivityCommandId>;
  readonly #folders: Folders;
  readonly #tree: ToolsTree;
  readonly #calls: AllCalls;
  readonly #activity: ActivityView;
  readonly #results: ResultsView;
  readonly #callActions: ActivityActions;
  readonly #parts: vscode.Disposable;

  constructor(folders: Folders, tree: ToolsTree, extensionUri: vscode.Uri, log: vscode.LogOutputChannel) {
    this.#folders = folders;
    this.#tree = tree;
    const calls = new AllCalls(folders.gateways);
    const activity = new ActivityView(calls, folders);
    const results = new ResultsView(calls, folders);
    const tables = new TablePanels(
      (folder) => this.#gatewayOf(folder),
      extensionUri,
      (result) => resultActions.save(result),
    );
    const resultActions = new ResultActions({
      gatewayOf: (folder) => this.#gatewayOf(folder),
      selected: () => results.view.selection.flatMap(keysOf),
      openTable: (result) => tables.open(result),
    });
    this.#calls = calls;
    this.#activity = activity;
    this.#results = results;
    this.#callActions = new ActivityActions({ calls, activity, folders });
    this.handlers = this.#handlers(guardedBy(log), resultActions);
    this.files = new WaygateFiles((name) => folders.named(name)?.link);
    const callDocuments = new CallDocuments(calls);
    const resultDocuments = new ResultDocuments();
    this.files.provide('calls', callDocuments);
    this.files.provide('results', resultDocuments);
    this.files.provide('found', foundDocuments);
    this.files.provide('tools', toolDocuments);
    this.files.provide('logs', logDocuments);
    this.files.provide('ranked', rankedDocuments);
    this.#parts = vscode.Disposable.from(
      calls,
      activity,
      results,
      tables,
      this.files,
      resultDocuments,
      callDocuments.register(),
      new ResultLenses(resultDocuments).register(),
    );
  }

  dispose(): void {
    this.#parts.dispose();
  }

  #handlers(guarded: ReturnType<typeof guardedBy>, results: ResultActions): CommandHandlers<ActivityCommandId> {
    const calls = this.#callActions;
    return {
      'waygate.filterCalls': guarded('Filtering calls', () => calls.filter()),
      'waygate.clearCallFilter': guarded('Clearing the filter', async () => calls.clearFilter()),
      'waygate.clearCalls': guarded('Clearing the calls', () => calls.clear()),
      'waygate.exportCalls': guarded('Exporting the calls', () => calls.exportCalls()),
      'waygate.cancelCall': guarded('Cancelling the call', (argument) => calls.cancel(argument)),
      'waygate.tryAgain': guarded('Trying the call again', (argument) => calls.tryAgain(argument)),
      'waygate.copyCall': guarded('Copying the call', (argument) => calls.copyCall(argument)),
      'waygate.copyCalledTool': guarded('Copying the tool id', (argument) => calls.copyToolId(argument)),
      'waygate.revealCalledTool': guarded('Revealing the tool', (argument) => this.#revealTool(argument)),
      'waygate.openResult': guarded('Opening the result', (argument) => results.open(argument)),
      'waygate.saveResult': guarded('Saving the result', (argument) => results.save(argument)),
      'waygate.deleteResults': guarded('Deleting results', async (argument) => {
        await results.delete(argument);
        await this.#results.reload();
      }),
      'waygate.revealCall': guarded('Revealing the call', (argument) => this.#revealCall(argument)),
      'waygate.findInResult': guarded('Searching the result', (argument) => results.find(argument)),
      'waygate.filterResult': guarded('Filtering the result', (argument) => results.filter(argument)),
      'waygate.viewTable': guarded('Opening the table', (argument) => results.table(argument)),
      'waygate.copyHandle': guarded('Copying the handle', (argument) => results.copyHandle(argument)),
      'waygate.copyViewCall': guarded('Copying the call', (argument) => results.copyViewCall(argument)),
    };
  }

  #gatewayOf(folder: string): DocumentGateway {
    const gateway = this.#folders.named(folder);
    if (gateway === undefined) throw new Error('The folder of this result is no longer open');
    return gateway.link;
  }

  async #revealTool(argument: unknown): Promise<void> {
    const call = this.#callActions.call(argument);
    const tool = await this.#gatewayOf(call.folder).request('tool', { toolId: toolIdOf(call) });
    if (!tool) throw new Error('The server does not list this tool any more');
    await this.#tree.revealTool(call.folder, tool.path);
  }

  async #revealCall(argument: unknown): Promise<void> {
    const { folder, callId } = rowOf(argument) ?? rowOf(this.#results.view.selection[0]) ?? {};
    const run = this.#folders.named(folder ?? '')?.calls.run;
    const call = callId !== undefined && run !== undefined ? this.#calls.find({ run, id: callId }) : undefined;
    if (!call) throw new Error('The call that made this result is no longer listed');
    await this.#activity.reveal(call);
  }
}

function keysOf(element: ResultElement): ResultKey[] {
  const { folder } = element;
  if (element.kind === 'result') return [{ folder, handle: element.handle }];
  return element.group.results.map(({ handle }) => ({ folder, handle }));
}

function rowOf(argument: unknown): { folder: string; callId?: number | undefined } | undefined {
  if (typeof argument !== 'object' || argument === null || !('row' in argument) || !('folder' in argument)) {
    return undefined;
  }
  const { callId } = argument.row as { callId?: number };
  return { folder: String(argument.folder), callId };
}
