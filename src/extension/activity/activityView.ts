import * as vscode from 'vscode';
import { timeOfDay } from '../../text/timeOfDay.ts';
import { ACTIVITY_VIEW_ID } from '../contributions.ts';
import { callPlace } from '../documents/addresses.ts';
import { detailsOf } from '../documents/callDocuments.ts';
import { describeResult } from '../documents/resultDocuments.ts';
import { kindWords, sizeWords } from '../documents/resultText.ts';
import type { Folders } from '../folders/folders.ts';
import { plural, t } from '../l10n.ts';
import { type NotificationText, notificationText } from '../notificationText.ts';
import { setContextKey } from '../registrations.ts';
import { createTree, tooltip, treeItem } from '../tree/treeRow.ts';
import { argumentsOf } from '../try/verdict.ts';
import type { AllCalls } from './allCalls.ts';
import { type CallFilter, filterMessage, matches } from './callFilter.ts';
import { type Call, type CallGroup, callKey, grouped, groupKey, isOpen } from './callList.ts';
import { callRow, callTooltip, groupRow, mainPart, type PartRow, partRows } from './callRows.ts';
import { Redraws } from './redraws.ts';

export type ActivityElement =
  | { kind: 'group'; group: CallGroup }
  | { kind: 'call'; call: Call }
  | { kind: 'part'; call: Call; part: PartRow }
  | { kind: 'result'; call: Call; folder: string; handle: string; label: NotificationText };

const SECOND_MS = 1_000;

/** Tree *Activity*: calls as they happen, by client and conversation. */
export class ActivityView implements vscode.TreeDataProvider<ActivityElement>, vscode.Disposable {
  readonly view: vscode.TreeView<ActivityElement>;
  readonly #calls: AllCalls;
  readonly #folders: Folders;
  readonly #changed = new vscode.EventEmitter<ActivityElement[] | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  /** Elements by row id. The editor redraws a single row only by the object that it got. */
  readonly #elements = new Map<string, ActivityElement & { kind: 'group' | 'call' }>();
  readonly #redraws = new Redraws((change) => this.#redraw(change));
  readonly #parts: vscode.Disposable;
  #filter: CallFilter = {};
  /** Failed calls that ended since the view was last visible. */
  readonly #unseen = new Set<string>();
  #clock: NodeJS.Timeout | undefined;

  constructor(calls: AllCalls, folders: Folders) {
    this.#calls = calls;
    this.#folders = folders;
    this.view = createTree(ACTIVITY_VIEW_ID, { treeDataProvider: this, canSelectMany: true, showCollapseAll: true });
    this.#parts = vscode.Disposable.from(
      this.view,
      this.#changed,
      this.#redraws,
      calls.onChange((change) => {
        if (change !== 'all') this.#countErrors(change);
        this.#describe();
        this.#redraws.note(change);
        this.#keepClock();
      }),
      this.view.onDidChangeVisibility(() => this.#show()),
    );
    this.#show();
    this.#describe();
  }

  get filter(): CallFilter {
    return this.#filter;
  }

  set filter(filter: CallFilter) {
    this.#filter = filter;
    setContextKey('waygate.callsFiltered', Object.keys(filter).length > 0);
    this.#describe();
    this.#redraws.note('all');
  }

  getTreeItem(element: ActivityElement): vscode.TreeItem {
    switch (element.kind) {
      case 'group':
        return treeItem(
          groupRow(element.group, (at) => timeOfDay(at, false), this.#titleOf(element.group)),
          'Expanded',
        );
      case 'call': {
        const item = treeItem(callRow(element.call, Date.now()), 'Collapsed');
        item.command = this.#open(element.call, mainPart(element.call));
        return item;
      }
      case 'part': {
        const { label, icon, part } = element.part;
        const item = treeItem(leaf(`${callKey(element.call)}:${part}`, label, icon), 'None');
        item.command = this.#open(element.call, part);
        return item;
      }
      case 'result': {
        const { call, handle, label } = element;
        const item = treeItem(leaf(`${callKey(call)}:${handle}`, label, 'database', 'waygate.result'), 'None');
        item.command = {
          command: 'waygate.openResult',
          title: t`Open Result`,
          arguments: [{ folder: call.folder, handle }],
        };
        return item;
      }
    }
  }

  async resolveTreeItem(item: vscode.TreeItem, element: ActivityElement): Promise<vscode.TreeItem> {
    if (element.kind !== 'call') return item;
    const { call } = element;
    const link = this.#folders.named(call.folder)?.link;
    const state = link?.state.value;
    const servers = state?.kind === 'attached' ? state.snapshot.servers : [];
    const server = servers.find(({ name }) => name === call.server);
    const details = link && (await detailsOf(link, call).catch(() => undefined));
    item.tooltip = tooltip(callTooltip(call, { server, request: argumentsOf(details?.arguments) }));
    return item;
  }

  getParent(element: ActivityElement): ActivityElement | undefined {
    if (element.kind === 'group') return undefined;
    return this.#elements.get(element.kind === 'call' ? groupKey(element.call) : callKey(element.call));
  }

  async getChildren(element?: ActivityElement): Promise<ActivityElement[]> {
    if (element === undefined) return this.#root();
    if (element.kind === 'group') return element.group.calls.map((call) => this.#callElement(call));
    if (element.kind !== 'call') return [];
    const { call } = element;
    const results = await Promise.all(call.handles.map((handle) => this.#resultElement(call, handle)));
    const parts = partRows(call).map((part): ActivityElement => ({ kind: 'part', call, part }));
    return [...parts.slice(0, 2), ...results, ...parts.slice(2)];
  }

  /** Selects the row of a call. */
  async reveal(call: Call): Promise<void> {
    if (!matches(this.#filter, call)) this.filter = {};
    this.#root();
    await this.view.reveal(this.#callElement(call), { select: true, focus: true });
  }

  dispose(): void {
    clearInterval(this.#clock);
    this.#parts.dispose();
  }

  #open(call: Call, part: PartRow['part']): vscode.Command {
    // A command of the editor itself survives a redraw between the click and its end.
    const uri = vscode.Uri.from(callPlace(call.folder, call, part));
    return { command: 'vscode.open', title: t`Open`, arguments: [uri, { preview: true }] };
  }

  #root(): ActivityElement[] {
    const calls = this.#calls.calls.filter((call) => matches(this.#filter, call));
    this.#redraws.drew(calls);
    const groups = grouped(calls);
    const present = new Set([...groups.map(({ key }) => key), ...calls.map(callKey)]);
    for (const key of this.#elements.keys()) if (!present.has(key)) this.#elements.delete(key);
    for (const call of calls) this.#callElement(call);
    return groups.map((group) => {
      const element = this.#elements.get(group.key);
      if (element?.kind === 'group') element.group = group;
      const kept = element ?? { kind: 'group', group };
      this.#elements.set(group.key, kept);
      return kept;
    });
  }

  #callElement(call: Call): ActivityElement {
    const key = callKey(call);
    const element = this.#elements.get(key);
    if (element?.kind === 'call') element.call = call;
    const kept = element ?? { kind: 'call', call };
    this.#elements.set(key, kept);
    return kept;
  }

  async #resultElement(call: Call, handle: string): Promise<ActivityElement> {
    const { folder } = call;
    const gateway = this.#folders.named(folder)?.link;
    const found = gateway && (await describeResult(gateway, handle).catch(() => undefined));
    const label = found
      ? notificationText`Result (${kindWords(found.extension)}, ${sizeWords(found.row.size)})`
      : notificationText`Result (no longer kept)`;
    return { kind: 'result', call, folder, handle, label };
  }

  #titleOf({ calls: [first] }: CallGroup): string | undefined {
    return this.#folders.named(first?.folder ?? '')?.label();
  }

  #redraw(change: 'all' | readonly string[]): void {
    if (change === 'all') {
      this.#changed.fire(undefined);
      return;
    }
    const elements = change.flatMap((key) => {
      const element = this.#elements.get(key);
      const call = element?.kind === 'call' && this.#calls.find(element.call);
      return call ? [this.#callElement(call)] : [];
    });
    if (elements.length > 0) this.#changed.fire(elements);
  }

  #show(): void {
    this.#redraws.show(this.view.visible);
    if (this.view.visible) this.#unseen.clear();
    this.#describe();
    this.#keepClock();
  }

  /** Makes rows of calls that have not ended count their seconds. */
  #keepClock(): void {
    const open = (): Call[] => this.#calls.calls.filter(isOpen);
    if (!this.view.visible || open().length === 0) {
      clearInterval(this.#clock);
      this.#clock = undefined;
      return;
    }
    this.#clock ??= setInterval(() => this.#redraws.note(open()), SECOND_MS);
  }

  #countErrors(calls: readonly Call[]): void {
    if (this.view.visible) return;
    for (const call of calls) if (call.outcome === 'error' || call.lost) this.#unseen.add(callKey(call));
  }

  #describe(): void {
    const { calls, problem } = this.#calls;
    const shown = calls.filter((call) => matches(this.#filter, call)).length;
    const message = problem ? notificationText`${problem}` : filterMessage(this.#filter, shown, calls.length);
    this.view.message = message ?? (calls.length === 0 ? t`No calls yet. They appear here as agents make them.` : '');
    const errors = this.#unseen.size;
    this.view.badge =
      errors === 0
        ? undefined
        : { value: errors, tooltip: plural(errors, t`1 call failed`, t`${errors} calls failed`) };
  }
}

function leaf(id: string, label: NotificationText, icon: string, contextValue = 'waygate.callPart') {
  return { id, label, description: notificationText``, icon: { id: icon }, contextValue, accessibilityLabel: label };
}
