import * as vscode from 'vscode';
import type { GatewaySnapshot } from '../../control/contract.ts';
import {
  type DashboardAction,
  type DashboardState,
  type FromDashboard,
  parseFromDashboard,
  type ToDashboard,
} from '../../control/dashboardMessages.ts';
import { inLines, oneLine } from '../../text/porcelain.ts';
import { type CommandId, DASHBOARD_VIEW_TYPE, EXTENSION_TITLE } from '../contributions.ts';
import { type Paced, throttled } from '../gateway/pacing.ts';
import type { Observable } from '../observable.ts';
import { runCommand } from '../registrations.ts';
import { type GatewayView, summarize } from '../status/health.ts';
import { toRange } from '../tree/toolsTree.ts';
import { quarantined, type ScannedServer } from '../trust/findings.ts';
import { dashboardPage } from './dashboardPage.ts';

/** A page that changes more often is unreadable. */
const UPDATE_INTERVAL_MS = 1_000;
/** Refreshes ages and uptimes while nothing else happens. */
const CLOCK_INTERVAL_MS = 10_000;

const ACTION_COMMANDS: Record<DashboardAction, CommandId> = {
  refresh: 'waygate.refresh',
  openConfiguration: 'waygate.openConfiguration',
  showLog: 'waygate.showLog',
};

export interface DashboardParts {
  /** Name of the folder's gateway. */
  name: string;
  /** Returns the folder's title if the window has several gateways. */
  label: () => string | undefined;
  extensionUri: vscode.Uri;
  gateway: Observable<GatewayView>;
  scanned: Observable<readonly ScannedServer[]>;
}

/** The only dashboard panel of a folder. A hidden panel receives no states, a visible one only complete states. */
export class Dashboard implements vscode.Disposable {
  readonly #name: string;
  readonly #label: () => string | undefined;
  readonly #extensionUri: vscode.Uri;
  readonly #gateway: Observable<GatewayView>;
  readonly #scanned: Observable<readonly ScannedServer[]>;
  #panel: vscode.WebviewPanel | undefined;
  /** Kept on the page while a worker is replaced. */
  #lastSnapshot: GatewaySnapshot | undefined;

  constructor({ name, label, extensionUri, gateway, scanned }: DashboardParts) {
    this.#name = name;
    this.#label = label;
    this.#extensionUri = extensionUri;
    this.#gateway = gateway;
    this.#scanned = scanned;
  }

  /** Title of the tab. The editor keeps it with a tab that it restores. */
  get title(): string {
    const title = this.#label();
    return title === undefined ? EXTENSION_TITLE : `${EXTENSION_TITLE}: ${oneLine(title, 60)}`;
  }

  get isOpen(): boolean {
    return this.#panel !== undefined;
  }

  async open(): Promise<void> {
    if (this.#panel) {
      this.#panel.reveal();
      return;
    }
    // The editor gives a tab of an earlier window back only when the user sees it.
    const restored = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).filter((tab) => this.#isOwn(tab));
    await vscode.window.tabGroups.close(restored);
    this.adopt(
      vscode.window.createWebviewPanel(DASHBOARD_VIEW_TYPE, this.title, vscode.ViewColumn.Active, this.#options()),
    );
  }

  dispose(): void {
    this.#panel?.dispose();
  }

  #isOwn({ input, label }: vscode.Tab): boolean {
    // VS Code puts a prefix before the type.
    return (
      input instanceof vscode.TabInputWebview &&
      input.viewType.endsWith(`-${DASHBOARD_VIEW_TYPE}`) &&
      label === this.title
    );
  }

  #options(): vscode.WebviewOptions {
    return { enableScripts: true, localResourceRoots: [this.#file()] };
  }

  #file(...path: string[]): vscode.Uri {
    return vscode.Uri.joinPath(this.#extensionUri, 'dist', 'webview', ...path);
  }

  /** Fills a new tab, or one that the editor has restored. */
  adopt(panel: vscode.WebviewPanel): void {
    const { webview } = panel;
    this.#panel?.dispose();
    this.#panel = panel;

    panel.iconPath = vscode.Uri.joinPath(this.#extensionUri, 'media', 'icon.svg');
    webview.options = this.#options();
    const update = throttled(UPDATE_INTERVAL_MS, () => {
      panel.title = this.title;
      if (panel.visible) void webview.postMessage({ type: 'state', state: this.#state() } satisfies ToDashboard);
    });
    const clock = setInterval(update, CLOCK_INTERVAL_MS);
    const watching = vscode.Disposable.from(
      webview.onDidReceiveMessage((message) => this.#receive(parseFromDashboard(message), update)),
      // The editor unloads a hidden page; when it is shown again, its `ready` requests the state.
      panel.onDidChangeViewState(update),
      this.#gateway.onChange(update),
      this.#scanned.onChange(update),
      update,
    );
    panel.onDidDispose(() => {
      clearInterval(clock);
      watching.dispose();
      if (this.#panel === panel) this.#panel = undefined;
    });
    update();
    webview.html = dashboardPage({
      cspSource: webview.cspSource,
      script: String(webview.asWebviewUri(this.#file('dashboard.js'))),
      style: String(webview.asWebviewUri(this.#file('dashboard.css'))),
    });
  }

  #state(): DashboardState {
    const { link } = this.#gateway.value;
    if (link.kind === 'attached') this.#lastSnapshot = link.snapshot;
    else if (link.kind === 'off') this.#lastSnapshot = undefined;
    return {
      now: Date.now(),
      summary: summarize(this.#gateway.value),
      refreshing: (this.#gateway.value.refreshing?.size ?? 0) > 0,
      live: link.kind === 'attached',
      quarantined: quarantined(this.#scanned.value),
      ...(this.#lastSnapshot && { snapshot: inLines(this.#lastSnapshot) }),
    };
  }

  #receive(message: FromDashboard | undefined, update: Paced): void {
    switch (message?.type) {
      case 'ready':
        update();
        break;
      case 'action':
        void runCommand(ACTION_COMMANDS[message.action], this.#name);
        break;
      case 'openServer':
        this.#openLocation(
          (snapshot) => snapshot.servers.find(({ name }) => inLines(name) === message.server)?.location,
        );
        break;
      case 'openProblem':
        this.#openLocation((snapshot) => snapshot.configuration.problems[message.index]?.location);
        break;
    }
  }

  /** The page sends a name and the snapshot supplies the place, so that the page can open nothing else. */
  #openLocation(find: (snapshot: GatewaySnapshot) => Parameters<typeof toRange>[0] | undefined): void {
    const { link } = this.#gateway.value;
    if (link.kind !== 'attached') return;
    const location = find(link.snapshot);
    if (location === undefined) return;
    const { uri, range } = toRange(location, link.snapshot.workspace);
    void vscode.window.showTextDocument(uri, { selection: range });
  }
}

/** Gives each tab that the editor restores to the folder that its title names, else to the first without a tab. */
export function restoreDashboards(dashboards: () => readonly Dashboard[]): vscode.Disposable {
  return vscode.window.registerWebviewPanelSerializer(DASHBOARD_VIEW_TYPE, {
    deserializeWebviewPanel: async (panel) => {
      const free = dashboards().filter(({ isOpen }) => !isOpen);
      const found = free.find(({ title }) => title === panel.title) ?? free[0];
      if (found) found.adopt(panel);
      else panel.dispose();
    },
  });
}
