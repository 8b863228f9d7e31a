import * as vscode from 'vscode';
import type { CallRecord } from '../../control/activityContract.ts';
import { type FromTry, parseFromTry, type ToTry } from '../../control/tryMessages.ts';
import { isRecord } from '../../lib/isRecord.ts';
import { oneLine } from '../../text/porcelain.ts';
import { visibleJson } from '../../text/visibleText.ts';
import { TRY_VIEW_TYPE } from '../contributions.ts';
import { openResult } from '../documents/resultDocuments.ts';
import { type GatewayLink, sentenceOf } from '../gateway/gatewayLink.ts';
import { throttled } from '../gateway/pacing.ts';
import { t } from '../l10n.ts';
import { tryPage } from './tryPage.ts';
import { argumentsOf, type CallAnswer, figuresOf, outcomeOf, pastCalls, triedTool, verdictOf } from './verdict.ts';

/** Earlier calls on the page. */
const HISTORY = 12;
/** An agent may call a tool many times a second. */
const HISTORY_INTERVAL_MS = 500;
/** Calls among which the running one is looked for. */
const RECENT = 50;

export interface TryParts {
  /** Name of the folder's gateway. */
  name: string;
  /** Returns the folder's title if the window has several gateways. */
  label(): string | undefined;
  extensionUri: vscode.Uri;
  link: GatewayLink;
}

/** Tabs *Try Tool*, one for each tool. */
export class TryTool implements vscode.Disposable {
  readonly #parts: TryParts;
  readonly #tabs = new Map<string, TryTab>();
  readonly #watching: vscode.Disposable;

  constructor(parts: TryParts) {
    this.#parts = parts;
    let shown = '';
    this.#watching = vscode.Disposable.from(
      new vscode.Disposable(
        parts.link.calls.onChange((calls) => {
          for (const tab of this.#tabs.values()) tab.follow(calls);
        }).dispose,
      ),
      // Another worker or catalog may have another definition.
      new vscode.Disposable(
        parts.link.state.onChange((state) => {
          const key = state.kind === 'attached' ? `${state.attachment}:${state.snapshot.catalog.revision}` : shown;
          if (key === shown) return;
          shown = key;
          for (const tab of this.#tabs.values()) void tab.load();
        }).dispose,
      ),
    );
  }

  /** Opens the tab of a tool, or shows it, and fills it with arguments. */
  async open(toolId: string, args?: string): Promise<void> {
    const open = this.#tabs.get(toolId);
    if (open !== undefined) return open.show(args);
    const title = this.#titleOf(toolId);
    // The editor restores a tab when the user comes to it, and until then it has no page.
    const waiting = vscode.window.tabGroups.all
      .flatMap(({ tabs }) => tabs)
      .filter(({ input, label }) => input instanceof vscode.TabInputWebview && isOwn(input) && label === title);
    const known = [...this.#tabs.values()].some((tab) => tab.title === title);
    if (!known && waiting.length > 0) await vscode.window.tabGroups.close(waiting);
    const panel = vscode.window.createWebviewPanel(TRY_VIEW_TYPE, title, vscode.ViewColumn.Active, {
      // The answer, and secrets that no state may have, stay while another tab is in front.
      retainContextWhenHidden: true,
    });
    this.#adopt(panel, toolId, args);
  }

  dispose(): void {
    this.#watching.dispose();
    for (const { panel } of [...this.#tabs.values()]) panel.dispose();
  }

  /** Fills a tab that the editor has restored. */
  restore(panel: vscode.WebviewPanel, toolId: string): void {
    if (this.#tabs.has(toolId)) panel.dispose();
    else this.#adopt(panel, toolId);
  }

  #titleOf(toolId: string): string {
    const [, namespace = '', name = toolId] = /^([^:]*):(.*)#[^#]*$/s.exec(toolId) ?? [];
    const folder = this.#parts.label();
    return oneLine(`${folder === undefined ? '' : `${folder}: `}${t`Try ${name} (${namespace})`}`, 80);
  }

  #adopt(panel: vscode.WebviewPanel, toolId: string, args?: string): void {
    const tab = new TryTab(this.#parts, panel, { toolId, title: this.#titleOf(toolId), args });
    this.#tabs.set(toolId, tab);
    panel.onDidDispose(() => this.#tabs.delete(toolId));
  }
}

/** Restores the tabs of an earlier window, each at the gateway of its folder. */
export function restoreTries(named: (folder: string) => TryTool | undefined): vscode.Disposable {
  return vscode.window.registerWebviewPanelSerializer(TRY_VIEW_TYPE, {
    deserializeWebviewPanel: async (panel, state) => {
      const { folder, toolId }: Readonly<Record<string, unknown>> = isRecord(state) ? state : {};
      const tries = typeof folder === 'string' ? named(folder) : undefined;
      if (tries === undefined || typeof toolId !== 'string') panel.dispose();
      else tries.restore(panel, toolId);
    },
  });
}

const isOwn = ({ viewType }: vscode.TabInputWebview): boolean => viewType.endsWith(TRY_VIEW_TYPE);

class TryTab {
  readonly panel: vscode.WebviewPanel;
  readonly title: string;
  readonly #parts: TryParts;
  readonly #toolId: string;
  /** Arguments for the page, once it is ready. */
  #args: string | undefined;
  #isReady = false;
  #isRunning = false;
  /** Call of the answer on the page, whose figures follow. */
  #lastRun: number | undefined;
  #isOpen = true;
  #checking: AbortController | undefined;
  readonly #refreshHistory = throttled(HISTORY_INTERVAL_MS, () => void this.#showHistory());

  constructor(
    parts: TryParts,
    panel: vscode.WebviewPanel,
    { toolId, title, args }: { toolId: string; title: string; args: string | undefined },
  ) {
    this.#parts = parts;
    this.panel = panel;
    this.title = title;
    this.#toolId = toolId;
    this.#args = args;
    const file = (...path: string[]): vscode.Uri => vscode.Uri.joinPath(parts.extensionUri, 'dist', 'webview', ...path);
    panel.title = this.title;
    panel.iconPath = vscode.Uri.joinPath(parts.extensionUri, 'media', 'icon.svg');
    panel.webview.options = { enableScripts: true, localResourceRoots: [file()] };
    panel.webview.onDidReceiveMessage((message) => this.#receive(parseFromTry(message)));
    panel.onDidDispose(() => {
      this.#isOpen = false;
      this.#refreshHistory.dispose();
      this.#checking?.abort();
    });
    panel.webview.html = tryPage({
      cspSource: panel.webview.cspSource,
      script: String(panel.webview.asWebviewUri(file('try.js'))),
      style: String(panel.webview.asWebviewUri(file('try.css'))),
    });
  }

  show(args: string | undefined): void {
    this.panel.reveal();
    if (args === undefined) return;
    if (this.#isReady) this.#post({ type: 'arguments', json: args });
    else this.#args = args;
  }

  /** Shows a call that waits for the user's answer, the figures of the last one, and the end of any call of the tool. */
  follow(calls: readonly CallRecord[]): void {
    const own = calls.filter(({ toolId, metaTool }) => toolId === this.#toolId && metaTool === 'tool_execute');
    const mine = own.findLast(({ session }) => session === 'you');
    if (this.#isRunning && mine !== undefined && mine.phase !== 'done')
      this.#post({ type: 'running', waits: mine.phase === 'waiting' });
    const counted = own.find(({ id, phase }) => id === this.#lastRun && phase === 'done');
    if (counted !== undefined && !this.#isRunning) this.#post({ type: 'figures', figures: figuresOf(counted) });
    if (own.some(({ phase }) => phase === 'done')) this.#refreshHistory();
  }

  /** Asks for the definition and sends it to the page. */
  async load(): Promise<void> {
    if (!this.#isReady) return;
    try {
      const details = await this.#parts.link.request('tool', { toolId: this.#toolId });
      if (details === null) {
        const reason = t`The gateway has no such tool now. Its server may be off, starting, or without this tool.`;
        return this.#post({ type: 'unavailable', reason });
      }
      this.#post({ type: 'tool', json: JSON.stringify(triedTool(this.#parts.name, details)) });
      if (this.#args !== undefined) this.#post({ type: 'arguments', json: this.#args });
      this.#args = undefined;
      await this.#showHistory();
    } catch (error) {
      this.#post({ type: 'unavailable', reason: sentenceOf(error) });
    }
  }

  #receive(message: FromTry | undefined): void {
    switch (message?.type) {
      case 'ready':
        this.#isReady = true;
        return void this.load();
      case 'check':
        return void this.#check(message.check, message.json);
      case 'run':
        return void this.#run(message.json);
      case 'cancel':
        return void this.#guarded(() => this.#cancel());
      case 'copy':
        return void this.#guarded(() => this.#copy(message.json));
      case 'recall':
        return void this.#guarded(() => this.#recall(message.id));
      case 'openResult':
        return void this.#guarded(() => openResult(this.#parts.link, this.#parts.name, message.handle));
    }
  }

  async #check(check: number, json: string): Promise<void> {
    this.#checking?.abort();
    const checking = new AbortController();
    this.#checking = checking;
    try {
      const answer = await this.#call(json, { dry_run: true, render: 'json' }, checking.signal);
      this.#post({ type: 'verdict', check, verdict: verdictOf(answer) });
    } catch (error) {
      if (!checking.signal.aborted)
        this.#post({ type: 'verdict', check, verdict: { kind: 'unknown', reason: sentenceOf(error) } });
    }
  }

  async #run(json: string): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#post({ type: 'running', waits: false });
    const startedAt = Date.now();
    try {
      const answer = await this.#call(json, {});
      const [record] = await this.#ownCalls(startedAt).catch(() => []);
      this.#lastRun = record?.id;
      this.#post({ type: 'outcome', outcome: outcomeOf(answer, Date.now() - startedAt, record) });
    } catch (error) {
      const text = t`No answer came: ${sentenceOf(error)} The tool may have run: check before you run it again.`;
      const figures = { durationMs: Date.now() - startedAt, handles: [] };
      this.#post({ type: 'outcome', outcome: { isError: true, answer: [text], figures } });
    } finally {
      this.#isRunning = false;
    }
    await this.#showHistory();
  }

  #call(json: string, more: object, signal?: AbortSignal): Promise<CallAnswer> {
    const args = { tool_id: this.#toolId, args: JSON.parse(json) as unknown, ...more };
    return this.#parts.link.request('callTool', { name: 'tool_execute', args, as: 'you' }, signal);
  }

  /** Returns the user's own calls of the tool, the newest first. */
  async #ownCalls(since = 0): Promise<CallRecord[]> {
    const { calls } = await this.#parts.link.request('calls', { limit: RECENT, filter: { toolId: this.#toolId } });
    return calls.filter(({ session, at }) => session === 'you' && at >= since);
  }

  async #cancel(): Promise<void> {
    const running = (await this.#ownCalls()).filter(({ phase }) => phase !== 'done');
    for (const { id } of running) await this.#parts.link.request('cancelCall', { id });
  }

  async #copy(json: string): Promise<void> {
    const call = { tool_id: this.#toolId, args: JSON.parse(json) as unknown };
    await vscode.env.clipboard.writeText(`tool_execute ${visibleJson(call)}`);
    this.#post({ type: 'notice', text: t`The call is in the clipboard.` });
  }

  async #recall(id: number): Promise<void> {
    const details = await this.#parts.link.request('call', { id });
    const json = argumentsOf(details?.arguments);
    this.#post(json === undefined ? { type: 'notice', text: NOT_KEPT } : { type: 'arguments', json });
  }

  async #showHistory(): Promise<void> {
    // A gateway of an older build has no list of calls.
    const page = await this.#parts.link
      .request('calls', { limit: HISTORY, filter: { toolId: this.#toolId } })
      .catch(() => undefined);
    if (page !== undefined) this.#post({ type: 'history', calls: pastCalls(page.calls) });
  }

  async #guarded(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.#post({ type: 'notice', text: sentenceOf(error) });
    }
  }

  #post(message: ToTry): void {
    if (this.#isOpen) void this.panel.webview.postMessage(message);
  }
}

const NOT_KEPT = t`The arguments of that call are not kept: the memory for them is bounded, or the configuration switches it off.`;
