import type { DashboardState, ToDashboard } from '../../control/dashboardMessages.ts';
import { throttled } from '../gateway/pacing.ts';
import type { Disposable } from '../observable.ts';
import { LiveReports, type ReportSource } from './liveReports.ts';

/** A page that changes more often is unreadable. */
const UPDATE_INTERVAL_MS = 1_000;

/** Page of the dashboard as its feed sees it. */
export interface FedPage {
  isVisible(): boolean;
  post(message: ToDashboard): void;
}

/**
 * Sends whole states to a page, at most one a second and only those that differ. Sends nothing to a hidden page, and
 * asks the worker nothing for it.
 */
export class PageFeed implements Disposable {
  readonly #page: FedPage;
  readonly #reports: LiveReports;
  readonly #update: ReturnType<typeof throttled>;
  #sent = '';
  #attachment = 0;

  constructor(page: FedPage, source: ReportSource, state: (reports: LiveReports) => DashboardState) {
    this.#page = page;
    this.#update = throttled(UPDATE_INTERVAL_MS, () => {
      if (!page.isVisible()) return;
      const message: ToDashboard = { type: 'state', state: state(this.#reports) };
      const next = JSON.stringify(message);
      if (next === this.#sent) return;
      this.#sent = next;
      page.post(message);
    });
    this.#reports = new LiveReports(source, this.#update);
  }

  /** Call when the page is ready: VS Code unloads a hidden page, which has nothing when it is shown again. */
  ready(): void {
    this.#sent = '';
    this.update();
  }

  /** Call after every change of what the page shows, and of its visibility. */
  update(): void {
    if (this.#page.isVisible()) this.#reports.start();
    else this.#reports.stop();
    this.#update();
  }

  /** Call with the number of the attached worker. The reports of another one are forgotten. */
  attached(attachment: number): void {
    if (attachment !== this.#attachment) this.#reports.reset();
    this.#attachment = attachment;
  }

  dispose(): void {
    this.#reports.stop();
    this.#update.dispose();
  }
}
