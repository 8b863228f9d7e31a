import { escapeHtml as e } from '../../text/html.ts';
import { t } from '../l10n.ts';
import { type PageSources, webviewPage } from '../webviewPage.ts';

/**
 * Renders the page before its first state. The live region stays outside the parts that are redrawn; otherwise a screen
 * reader would not announce it.
 */
export function dashboardPage(
  sources: PageSources,
  title = t`Waygate Dashboard`,
  waiting = t`Waiting for the gateway…`,
): string {
  const live = '<div id="live" class="visually-hidden" role="status" aria-live="polite"></div>';
  return webviewPage(sources, title, `${live}\n<div id="page"><p class="loading">${e(waiting)}</p></div>`);
}

/** Renders the page of a table before its first rows. */
export function tablePage(sources: PageSources): string {
  return dashboardPage(sources, t`Table`, t`Reading the table…`);
}
