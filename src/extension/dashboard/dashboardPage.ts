import { type PageSources, webviewPage } from '../webviewPage.ts';

export interface DashboardPageSources extends PageSources {
  title?: string;
  /** Text until the first state. */
  waiting?: string;
}

/**
 * Renders the page before its first state. The live region stays outside the parts that are redrawn; otherwise a screen
 * reader would not announce it.
 */
export function dashboardPage({
  title = 'Waygate Dashboard',
  waiting = 'Waiting for the gateway…',
  ...sources
}: DashboardPageSources): string {
  return webviewPage(
    sources,
    title,
    `<div id="live" class="visually-hidden" role="status" aria-live="polite"></div>
<div id="page"><p class="loading">${waiting}</p></div>`,
  );
}
