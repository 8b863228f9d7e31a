import * as vscode from 'vscode';
import { OutdatedGatewayError } from '../../control/client.ts';
import type { GatewaySnapshot } from '../../control/contract.ts';
import { type DashboardState, parseFromDashboard, type ToDashboard } from '../../control/dashboardMessages.ts';
import { oneLine } from '../../text/porcelain.ts';
import { DASHBOARD_VIEW_TYPE, EXTENSION_TITLE } from '../contributions.ts';
import type { GatewayLink } from '../gateway/gatewayLink.ts';
import type { Observable } from '../observable.ts';
import type { GatewayView } from '../status/health.ts';
import { quarantined, type ScannedServer } from '../trust/findings.ts';
import { dashboardAction } from './dashboardActions.ts';
import { dashboardState } from './dashboardModel.ts';
import { dashboardPage } from './dashboardPage.ts';
import type { LiveReports, ReportSource } from './liveReports.ts';
import { PageFeed } from './pageFeed.ts';

export interface DashboardParts {
  /** Name of the folder's gateway. */
  name: string;
  /** Returns the folder's title if the window has several gateways. */
  label: () => string | undefined;
  extensionUri: vscode.Uri;
  link: Pick<GatewayLink, 'request'>;
  gateway: Observable<GatewayView>;
  scanned: Observable<readonly ScannedServer[]>;
}

/** The only dashboard tab of a folder. */
export class Dashboard implements vscode.Disposable {
  readonly #parts: DashboardParts;
  #panel: vscode.WebviewPanel | undefined;
  /** Stays on the page while a worker is replaced. */
  #last: GatewaySnapshot | undefined;

  constructor(parts: DashboardParts) {
    this.#parts = parts;
  }

  /** Title of the tab. The editor keeps it with a tab that it restores. */
  get title(): string {
    const title = this.#parts.label();
    return title === undefined ? EXTENSION_TITLE : `${EXTENSION_TITLE}: ${oneLine(title, 60)}`;
  }

  get isOpen(): boolean {
    return this.#panel !== undefined;
  }

  /** Shows the dashboard. A tab that VS Code restored and has not shown yet has no panel, so a new one takes its place. */
  async open(): Promise<void> {
    if (this.#panel) {
      this.#panel.reveal();
      return;
    }
    const tabs = vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs);
    const restored = tabs.filter((tab) => isDashboard(tab) && tab.label === this.title);
    const column = restored[0]?.group.viewColumn ?? vscode.ViewColumn.Active;
    this.adopt(vscode.window.createWebviewPanel(DASHBOARD_VIEW_TYPE, this.title, column, this.#options()));
    await vscode.window.tabGroups.close(restored);
  }

  dispose(): void {
    this.#panel?.dispose();
  }

  #options(): vscode.WebviewOptions {
    return { enableScripts: true, localResourceRoots: [this.#file()] };
  }

  #file(...path: string[]): vscode.Uri {
    return vscode.Uri.joinPath(this.#parts.extensionUri, 'dist', 'webview', ...path);
  }

  /** Fills a new tab, or one that the editor has restored. */
  adopt(panel: vscode.WebviewPanel): void {
    const { name, extensionUri, gateway, link, scanned } = this.#parts;
    const { webview } = panel;
    this.#panel?.dispose();
    this.#panel = panel;
    panel.iconPath = vscode.Uri.joinPath(extensionUri, 'media', 'icon.svg');
    webview.options = this.#options();
    const page = { isVisible: () => panel.visible, post: (message: ToDashboard) => void webview.postMessage(message) };
    const feed = new PageFeed(page, sourceOf(link), (reports) => this.#state(reports));
    const update = (): void => {
      panel.title = this.title;
      const { link } = gateway.value;
      if (link.kind === 'attached') feed.attached(link.attachment);
      feed.update();
    };
    const watching = vscode.Disposable.from(
      webview.onDidReceiveMessage((received) => {
        const message = parseFromDashboard(received);
        if (message?.type === 'action') void dashboardAction(message, gateway.value, name);
        else if (message) feed.ready();
      }),
      panel.onDidChangeViewState(update),
      gateway.onChange(update),
      scanned.onChange(update),
      feed,
    );
    panel.onDidDispose(() => {
      watching.dispose();
      if (this.#panel === panel) this.#panel = undefined;
    });
    webview.html = dashboardPage({
      cspSource: webview.cspSource,
      script: String(webview.asWebviewUri(this.#file('dashboard.js'))),
      style: String(webview.asWebviewUri(this.#file('dashboard.css'))),
    });
    update();
  }

  #state({ telemetry, limits }: LiveReports): DashboardState {
    const { gateway, scanned } = this.#parts;
    const view = gateway.value;
    const now = Date.now();
    if (view.link.kind === 'off') this.#last = undefined;
    else if (view.link.kind === 'attached') this.#last = view.link.snapshot;
    return dashboardState({
      now,
      view,
      snapshot: this.#last,
      telemetry,
      limits: limits === undefined || limits === 'unsupported' ? limits : { ...limits, age: now - limits.at },
      quarantined: quarantined(scanned.value),
    });
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

/** VS Code puts a prefix before the type of a webview in a tab. */
function isDashboard({ input }: vscode.Tab): boolean {
  return input instanceof vscode.TabInputWebview && input.viewType.endsWith(DASHBOARD_VIEW_TYPE);
}

function sourceOf(link: DashboardParts['link']): ReportSource {
  return {
    telemetry: () => link.request('telemetry', {}),
    limits: async () => {
      try {
        return await link.request('limits', {});
      } catch (error) {
        if (error instanceof OutdatedGatewayError) return 'unsupported';
        throw error;
      }
    },
  };
}
