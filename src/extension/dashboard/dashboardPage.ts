import { type PageSources, webviewPage } from '../webviewPage.ts';

/**
 * Renders the page before its first state. The live region stays outside the parts that are redrawn; otherwise a screen
 * reader would not announce it.
 */
export function dashboardPage(
  sources: PageSources,
  title = 'Waygate Dashboard',
  waiting = 'Waiting for the gateway…',
): string {
  const live = '<div id="live" class="visually-hidden" role="status" aria-live="polite"></div>';
  return webviewPage(sources, title, `${live}\n<div id="page"><p class="loading">${waiting}</p></div>`);
}
