import type { Locator, Page } from 'playwright-core';
import type { DashboardAction } from '../../../src/control/dashboardMessages.ts';
import { runCommand } from './palette.ts';

/** Longer than a start, and shorter than what is left of the minute between the starts of a server that crashes. */
const AT_ONCE_MS = 15_000;

/** The dashboard of a window, in its tab. */
export class DashboardTab {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  find(selector: string): Locator {
    const outer = this.page.locator('iframe.webview.ready').filter({ visible: true }).last();
    return outer.contentFrame().frameLocator('#active-frame').locator(selector).first();
  }

  /** Row of a server, with its details. */
  row(server: string): Locator {
    return this.find(`[data-row="server:${server}"]`);
  }

  button(action: DashboardAction, subject?: string): Locator {
    return this.find(`[data-action="${action}"]${subject === undefined ? '' : `[data-subject="${subject}"]`}`);
  }

  /** Opens the page, or shows its tab. */
  async show(): Promise<void> {
    await runCommand(this.page, 'Waygate: Open Dashboard');
    await this.find('[data-part="now"]').waitFor();
  }

  async press(action: DashboardAction, subject?: string): Promise<void> {
    await this.show();
    // A row is drawn again each second, because it says how long ago something was: it never rests.
    await this.button(action, subject).click({ force: true });
  }

  /** Waits until the tab in front has this title. */
  async opens(title: string): Promise<void> {
    await this.page.locator('.tab.active', { hasText: title }).first().waitFor();
  }

  /** Waits until the row of a server has these words in its state. */
  async isIn(server: string, state: string): Promise<void> {
    await this.row(server).locator('.state', { hasText: state }).waitFor({ timeout: AT_ONCE_MS });
  }
}
