import { type PageSources, webviewPage } from '../webviewPage.ts';

/**
 * Renders the page before its first state. The live region stays outside the parts that are redrawn; otherwise a screen
 * reader would not announce it.
 */
export function dashboardPage(sources: PageSources): string {
  return webviewPage(
    sources,
    'Waygate Dashboard',
    `<div id="live" class="visually-hidden" role="status" aria-live="polite"></div>
<div id="page"><p class="loading">Waiting for the gateway…</p></div>`,
  );
}
