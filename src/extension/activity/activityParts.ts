import * as vscode from 'vscode';
import type { ArtifactRow } from '../../control/artifactContract.ts';
import { guardedBy } from '../commands.ts';
import type { ActivityCommandId } from '../contributions.ts';
import { CallDocuments } from '../documents/callDocuments.ts';
import { logDocuments, rankedDocuments, sessionDocuments, toolDocuments } from '../documents/gatewayDocuments.ts';
import { foundDocuments, keysOf, ResultActions } from '../documents/resultActions.ts';
import { ResultDocuments } from '../documents/resultDocuments.ts';
import { ResultLenses } from '../documents/resultLenses.ts';
import { TablePanels } from '../documents/tablePanel.ts';
import { type DocumentGateway, WaygateFiles } from '../documents/waygateFiles.ts';
import type { Folders } from '../folders/folders.ts';
import { t } from '../l10n.ts';
import type { CommandHandlers } from '../registrations.ts';
import type { ToolsTree } from '../tree/toolsTree.ts';
import { ActivityActions, toolIdOf } from './activityCommands.ts';
import { ActivityView } from './activityView.ts';
import { AllCalls } from './allCalls.ts';
import type { ResultGroup } from './resultRows.ts';
import { ResultsView } from './resultsView.ts';

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
    this.files.provide('sessions', sessionDocuments);
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
      'waygate.filterCalls': guarded(t`Filtering calls failed`, () => calls.filter()),
      'waygate.clearCallFilter': guarded(t`Clearing the filter failed`, async () => calls.clearFilter()),
      'waygate.clearCalls': guarded(t`Clearing the calls failed`, () => calls.clear()),
      'waygate.forgetCalls': guarded(t`Forgetting the call failed`, (argument) => calls.forget(argument)),
      'waygate.exportCalls': guarded(t`Exporting the calls failed`, () => calls.exportCalls()),
      'waygate.cancelCall': guarded(t`Cancelling the call failed`, (argument) => calls.cancel(argument)),
      'waygate.tryAgain': guarded(t`Trying the call again failed`, (argument) => calls.tryAgain(argument)),
      'waygate.whyFound': guarded(t`Explaining the ranking failed`, (argument) => calls.whyFound(argument)),
      'waygate.copyCall': guarded(t`Copying the call failed`, (argument) => calls.copyCall(argument)),
      'waygate.copyCalledTool': guarded(t`Copying the tool id failed`, (argument) => calls.copyToolId(argument)),
      'waygate.revealCalledTool': guarded(t`Revealing the tool failed`, (argument) => this.#revealTool(argument)),
      'waygate.openResult': guarded(t`Opening the result failed`, (argument) => results.open(argument)),
      'waygate.saveResult': guarded(t`Saving the result failed`, (argument) => results.save(argument)),
      'waygate.saveResults': guarded(t`Saving the results failed`, (argument) => results.saveAll(argument)),
      'waygate.deleteResults': guarded(t`Deleting results failed`, async (argument) => {
        await results.delete(argument);
        await this.#results.reload();
      }),
      'waygate.revealCall': guarded(t`Revealing the call failed`, (argument) => this.#revealCall(argument)),
      'waygate.findInResult': guarded(t`Searching the result failed`, (argument) => results.find(argument)),
      'waygate.filterResult': guarded(t`Filtering the result failed`, (argument) => results.filter(argument)),
      'waygate.viewTable': guarded(t`Opening the table failed`, (argument) => results.table(argument)),
      'waygate.copyHandle': guarded(t`Copying the handle failed`, (argument) => results.copyHandle(argument)),
      'waygate.copyViewCall': guarded(t`Copying the call failed`, (argument) => results.copyViewCall(argument)),
    };
  }

  #gatewayOf(folder: string): DocumentGateway {
    const gateway = this.#folders.named(folder);
    if (gateway === undefined) throw new Error(t`The folder of this result is no longer open`);
    return gateway.link;
  }

  async #revealTool(argument: unknown): Promise<void> {
    const call = this.#callActions.call(argument);
    const tool = await this.#gatewayOf(call.folder).request('tool', { toolId: toolIdOf(call) });
    if (!tool) throw new Error(t`The server does not list this tool any more`);
    await this.#tree.revealTool(call.folder, tool.path);
  }

  async #revealCall(argument: unknown): Promise<void> {
    const { folder, callId } = callOf(argument) ?? callOf(this.#results.view.selection[0]) ?? {};
    const run = this.#folders.named(folder ?? '')?.calls.run;
    const call = callId !== undefined && run !== undefined ? this.#calls.find({ run, id: callId }) : undefined;
    if (!call) throw new Error(t`The call that made this result is no longer listed`);
    await this.#activity.reveal(call);
  }
}

/** Returns the call of a row. The results of a group have one call. */
function callOf(argument: unknown): { folder: string; callId?: number | undefined } | undefined {
  if (typeof argument !== 'object' || argument === null || !('folder' in argument)) return undefined;
  const { folder, row, group } = argument as { folder: string; row?: ArtifactRow; group?: ResultGroup };
  const { callId } = row ?? group?.results[0] ?? {};
  return { folder, callId };
}
