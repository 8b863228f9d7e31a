import * as vscode from 'vscode';
import type { GatewaySnapshot } from '../../control/contract.ts';
import {
  type DashboardAction,
  type DashboardState,
  type FromDashboard,
  parseFromDashboard,
  type ToDashboard,
} from '../../control/dashboardMessages.ts';
import { inLines } from '../../text/porcelain.ts';
import { type CommandId, DASHBOARD_VIEW_TYPE } from '../contributions.ts';
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

/** The only dashboard panel of a window. A hidden panel receives no states, a visible one only complete states. */
export class Dashboard implements vscode.Disposable {
  readonly #extensionUri: vscode.Uri;
  readonly #gateway: Observable<GatewayView>;
  readonly #scanned: Observable<readonly ScannedServer[]>;
  #panel: vscode.WebviewPanel | undefined;
  /** Kept on the page while a worker is replaced. */
  #lastSnapshot: GatewaySnapshot | undefined;
  readonly #serializer: vscode.Disposable;

  constructor(
    extensionUri: vscode.Uri,
    gateway: Observable<GatewayView>,
    scanned: Observable<readonly ScannedServer[]>,
  ) {
    this.#extensionUri = extensionUri;
    this.#gateway = gateway;
    this.#scanned = scanned;
    this.#serializer = vscode.window.registerWebviewPanelSerializer(DASHBOARD_VIEW_TYPE, {
      deserializeWebviewPanel: async (panel) => {
        this.#panel?.dispose();
        this.#adopt(panel);
      },
    });
  }

  async open(): Promise<void> {
    if (this.#panel) {
      this.#panel.reveal();
      return;
    }
    // The tab of an earlier window is adopted only when the user sees it.
    const restored = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).filter(isDashboard);
    await vscode.window.tabGroups.close(restored);
    this.#adopt(
      vscode.window.createWebviewPanel(DASHBOARD_VIEW_TYPE, 'Waygate', vscode.ViewColumn.Active, this.#options()),
    );
  }

  dispose(): void {
    this.#serializer.dispose();
    this.#panel?.dispose();
  }

  #options(): vscode.WebviewOptions {
    return { enableScripts: true, localResourceRoots: [this.#file()] };
  }

  #file(...path: string[]): vscode.Uri {
    return vscode.Uri.joinPath(this.#extensionUri, 'dist', 'webview', ...path);
  }

  #adopt(panel: vscode.WebviewPanel): void {
    const { webview } = panel;
    this.#panel = panel;
    panel.iconPath = vscode.Uri.joinPath(this.#extensionUri, 'media', 'icon.svg');
    webview.options = this.#options();
    const update = throttled(UPDATE_INTERVAL_MS, () => {
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
        void runCommand(ACTION_COMMANDS[message.action]);
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

function isDashboard({ input }: vscode.Tab): boolean {
  // VS Code puts a prefix before the type.
  return input instanceof vscode.TabInputWebview && input.viewType.endsWith(`-${DASHBOARD_VIEW_TYPE}`);
}
