import * as vscode from 'vscode';
import type { CallDetails } from '../../control/activityContract.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { visibleJson } from '../../text/visibleText.ts';
import { callPlace } from '../documents/addresses.ts';
import { detailsOf } from '../documents/callDocuments.ts';
import { FORGOTTEN } from '../documents/callText.ts';
import type { DocumentGateway } from '../documents/waygateFiles.ts';
import type { Folders } from '../folders/folders.ts';
import { t } from '../l10n.ts';
import { notificationText } from '../notificationText.ts';
import { notify, pickMany, saveAs } from '../windows.ts';
import type { ActivityView } from './activityView.ts';
import type { AllCalls } from './allCalls.ts';
import { chosenFilter, filterChoices } from './callFilter.ts';
import { type Call, callKey, isOpen } from './callList.ts';

export interface ActionParts {
  calls: AllCalls;
  activity: ActivityView;
  folders: Folders;
}

/** Actions of the view *Activity*. */
export class ActivityActions {
  readonly #calls: AllCalls;
  readonly #activity: ActivityView;
  readonly #folders: Folders;

  constructor({ calls, activity, folders }: ActionParts) {
    this.#calls = calls;
    this.#activity = activity;
    this.#folders = folders;
  }

  async filter(): Promise<void> {
    const choices = filterChoices(this.#calls.calls, this.#activity.filter);
    if (choices.length === 0) return void notify('info', notificationText`There are no calls to filter.`);
    const chosen = await pickMany(choices, {
      title: notificationText`Show Only These Calls`,
      placeHolder: notificationText`Check servers, tools, outcomes or clients`,
      matchOnDescription: true,
    });
    if (chosen) this.#activity.filter = chosenFilter(chosen);
  }

  clearFilter(): void {
    this.#activity.filter = {};
  }

  clear(): Promise<void> {
    return this.#calls.clear();
  }

  /** Forgets the calls of the selected rows, or of the clicked one, and closes their documents. */
  async forget(argument: unknown): Promise<void> {
    const clicked = this.call(argument);
    const selected = this.#activity.view.selection.flatMap((element) => ('call' in element ? [element.call] : []));
    const isSelected = selected.some((one) => callKey(one) === callKey(clicked));
    const calls = (isSelected ? selected : [clicked]).filter((call) => !isOpen(call));
    await this.#calls.forget(calls);
    const folders = new Set(calls.map(documentFolder));
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    await vscode.window.tabGroups.close(tabs.filter((tab) => folders.has(folderOf(tab.input))));
  }

  /** Cancels a call as its client could. */
  async cancel(argument: unknown): Promise<void> {
    const open = this.#calls.calls.filter(isOpen);
    // VS Code passes no row for a click while it redraws the tree.
    const call = this.#clicked(argument) ?? (open.length === 1 ? open[0] : undefined);
    if (call === undefined) throw new Error(NO_ROW);
    const { cancelled } = await this.gatewayOf(call).request('cancelCall', { id: call.id });
    if (!cancelled) void notify('info', notificationText`The call had ended already.`);
  }

  /** Opens the form of the tool with the arguments of the call. */
  async tryAgain(argument: unknown): Promise<void> {
    const { folder, toolId, args } = await this.#request(argument);
    await vscode.commands.executeCommand('waygate.tryTool', { folder, toolId, args });
  }

  /** Explains the ranking of the query of a `tool_browse`. */
  async whyFound(argument: unknown): Promise<void> {
    const call = this.call(argument);
    const details = await detailsOf(this.gatewayOf(call), call);
    if (details?.arguments === undefined)
      throw new Error(details ? t`The arguments of this call are not kept` : FORGOTTEN);
    const { query } = isRecord(details.arguments) ? details.arguments : {};
    if (typeof query !== 'string') return void notify('info', notificationText`The call had a path, and no query.`);
    await vscode.commands.executeCommand('waygate.whyRanked', { folder: call.folder, query });
  }

  async copyCall(argument: unknown): Promise<void> {
    const { toolId, args } = await this.#request(argument);
    await vscode.env.clipboard.writeText(`tool_execute ${visibleJson({ tool_id: toolId, args })}`);
  }

  async copyToolId(argument: unknown): Promise<void> {
    await vscode.env.clipboard.writeText(toolIdOf(this.call(argument)));
  }

  async exportCalls(): Promise<void> {
    const target = await saveAs(notificationText`Export Calls`, 'waygate-calls.json');
    if (!target) return;
    const calls = [];
    for (const call of this.#calls.calls) {
      const { seenAt: _, ...record } = call;
      const details = await detailsOf(this.gatewayOf(call), call).catch(() => undefined);
      calls.push({ ...details, record });
    }
    const text = visibleJson({ exportedAt: new Date().toISOString(), calls }, 2);
    await vscode.workspace.fs.writeFile(target, Buffer.from(`${text}\n`));
  }

  async #request(argument: unknown): Promise<{ folder: string; toolId: string; args: unknown }> {
    const call = this.call(argument);
    const toolId = toolIdOf(call);
    const details = await detailsOf(this.gatewayOf(call), call);
    if (details?.arguments === undefined)
      throw new Error(details ? t`The arguments of this call are not kept` : FORGOTTEN);
    return { folder: call.folder, toolId, args: toolArguments(details) };
  }

  gatewayOf({ folder }: Call): DocumentGateway {
    const gateway = this.#folders.named(folder);
    if (gateway === undefined) throw new Error(t`The folder of this call is no longer open`);
    return gateway.link;
  }

  /** Returns the call of a row, or of the selected one. */
  call(argument: unknown): Call {
    const call = this.#clicked(argument);
    if (call === undefined) throw new Error(NO_ROW);
    return call;
  }

  #clicked(argument: unknown): Call | undefined {
    const element = isElement(argument) ? argument : this.#activity.view.selection[0];
    return element && 'call' in element ? this.#calls.find(element.call) : undefined;
  }
}

/** Returns the arguments of the tool itself: those of `tool_execute` contain them. */
function toolArguments({ record, arguments: given }: CallDetails): unknown {
  const isNested = record.metaTool === 'tool_execute' && typeof given === 'object' && given !== null && 'args' in given;
  return isNested ? given.args : given;
}

const NO_ROW = t`Use the menu of a row again; the list was being redrawn`;

function isElement(argument: unknown): argument is { call: Call } {
  if (typeof argument !== 'object' || argument === null || !('call' in argument)) return false;
  const { call } = argument;
  return typeof call === 'object' && call !== null && 'run' in call && 'id' in call;
}

export function toolIdOf({ toolId }: Call): string {
  if (toolId === undefined) throw new Error(t`This call ran no tool of a server`);
  return toolId;
}

/** Address above the documents of a call. */
function documentFolder(call: Call): string {
  return folderOf({ uri: vscode.Uri.from(callPlace(call.folder, call, 'request.json')) });
}

function folderOf(input: unknown): string {
  const uri = isRecord(input) ? input.uri : undefined;
  return uri instanceof vscode.Uri ? String(uri).replace(/[^/]*$/, '') : '';
}
