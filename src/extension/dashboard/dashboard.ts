import * as vscode from 'vscode';
import type { GatewaySnapshot } from '../../control/contract.ts';
import { parseFromDashboard, type ToDashboard } from '../../control/dashboardMessages.ts';
import { DASHBOARD_VIEW_TYPE } from '../contributions.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import type { Observable } from '../observable.ts';
import type { GatewayView } from '../status/health.ts';
import { quarantined, type ScannedServer } from '../trust/findings.ts';
import { dashboardAction } from './dashboardActions.ts';
import { dashboardState } from './dashboardModel.ts';
import { dashboardPage } from './dashboardPage.ts';
import type { LiveReports, ReportSource } from './liveReports.ts';
import { PageFeed } from './pageFeed.ts';

export interface DashboardDependencies {
  extensionUri: vscode.Uri;
  link: GatewayLink;
  gateway: Observable<GatewayView>;
  refreshing: Observable<boolean>;
  scanned: Observable<readonly ScannedServer[]>;
}

/** The only dashboard tab of a window. */
export class Dashboard implements vscode.Disposable {
  readonly #parts: DashboardDependencies;
  readonly #serializer: vscode.Disposable;
  #panel: vscode.WebviewPanel | undefined;
  /** Stays on the page while a worker is replaced. */
  #last: { attachment: number; at: number; snapshot: GatewaySnapshot } | undefined;

  constructor(parts: DashboardDependencies) {
    this.#parts = parts;
    this.#serializer = vscode.window.registerWebviewPanelSerializer(DASHBOARD_VIEW_TYPE, {
      deserializeWebviewPanel: async (panel) => {
        this.#panel?.dispose();
        this.#adopt(panel);
      },
    });
  }

  /** Shows the dashboard. A tab that VS Code restored and has not shown yet has no panel and is replaced at its place. */
  async open(): Promise<void> {
    if (this.#panel) {
      this.#panel.reveal();
      return;
    }
    const restored = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs).filter(isDashboard);
    const column = restored[0]?.group.viewColumn ?? vscode.ViewColumn.Active;
    this.#adopt(vscode.window.createWebviewPanel(DASHBOARD_VIEW_TYPE, 'Waygate', column, this.#options()));
    await vscode.window.tabGroups.close(restored);
  }

  dispose(): void {
    this.#serializer.dispose();
    this.#panel?.dispose();
  }

  #options(): vscode.WebviewOptions {
    return { enableScripts: true, localResourceRoots: [this.#file()] };
  }

  #file(...path: string[]): vscode.Uri {
    return vscode.Uri.joinPath(this.#parts.extensionUri, 'dist', 'webview', ...path);
  }

  #adopt(panel: vscode.WebviewPanel): void {
    const { extensionUri, gateway, link, refreshing, scanned } = this.#parts;
    const { webview } = panel;
    this.#panel = panel;
    panel.iconPath = vscode.Uri.joinPath(extensionUri, 'media', 'icon.svg');
    webview.options = this.#options();
    const page = { isVisible: () => panel.visible, post: (message: ToDashboard) => void webview.postMessage(message) };
    const feed = new PageFeed(page, sourceOf(link), (reports) => this.#state(reports));
    const update = (): void => {
      const { link } = gateway.value;
      if (link.kind === 'attached') feed.attached(link.attachment);
      feed.update();
    };
    const watching = vscode.Disposable.from(
      webview.onDidReceiveMessage((received) => {
        const message = parseFromDashboard(received);
        if (message?.type === 'action') void dashboardAction(message, gateway.value);
        else if (message) feed.ready();
      }),
      panel.onDidChangeViewState(update),
      gateway.onChange(update),
      refreshing.onChange(update),
      scanned.onChange(update),
      feed,
    );
    panel.onDidDispose(() => {
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

  #state({ telemetry, limits }: LiveReports): ToDashboard['state'] {
    const { gateway, refreshing, scanned } = this.#parts;
    const view = gateway.value;
    const now = Date.now();
    if (view.link.kind === 'off') this.#last = undefined;
    else if (view.link.kind === 'attached' && view.link.snapshot !== this.#last?.snapshot) {
      this.#last = { ...view.link, at: now };
    }
    return dashboardState({
      now,
      view,
      snapshot: this.#last?.snapshot,
      snapshotAge: now - (this.#last?.at ?? now),
      telemetry,
      limits: limits === undefined || limits === 'unsupported' ? limits : { ...limits, age: now - limits.at },
      refreshing: refreshing.value,
      quarantined: quarantined(scanned.value),
    });
  }
}

/** VS Code puts a prefix before the type of a webview in a tab. */
function isDashboard({ input }: vscode.Tab): boolean {
  return input instanceof vscode.TabInputWebview && input.viewType.endsWith(DASHBOARD_VIEW_TYPE);
}

function sourceOf(link: GatewayLink): ReportSource {
  return {
    telemetry: () => link.request('telemetry', {}),
    limits: () => link.request('limits', {}).catch((error) => unsupportedOr(error)),
  };
}

function unsupportedOr(error: unknown): 'unsupported' {
  const METHOD_NOT_FOUND = -32_601;
  if ((error as { code?: unknown }).code === METHOD_NOT_FOUND) return 'unsupported';
  throw error;
}
