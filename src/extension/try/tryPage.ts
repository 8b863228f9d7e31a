import { escapeHtml as e } from '../../text/html.ts';
import { t } from '../l10n.ts';
import { type PageSources, webviewPage } from '../webviewPage.ts';

/** Renders the page *Try Tool* before its tool is known. Live regions exist from the start, so that they are announced. */
export function tryPage(sources: PageSources): string {
  return webviewPage(
    sources,
    t`Try Tool`,
    `<div id="live" class="visually-hidden" role="status" aria-live="polite"></div>
<main>
<header>
<h1 id="name">${e(t`Try Tool`)}</h1>
<p id="place"></p>
<div id="description">${e(t`Waiting for the gateway…`)}</div>
</header>
<div class="halves">
<section aria-label="${e(t`Arguments`)}">
<div id="form"></div>
<div id="problems" role="group" aria-label="${e(t`Problems`)}" tabindex="-1" hidden></div>
<div class="actions">
<button id="run" type="button" aria-disabled="true">${e(t`Run`)}</button>
<button id="cancel" type="button" class="secondary" hidden>${e(t`Cancel`)}</button>
<button id="copy" type="button" class="secondary">${e(t`Copy as Call`)}</button>
<p id="status"></p>
</div>
<div id="notice" role="status"></div>
</section>
<section class="result" aria-label="${e(t`Answer`)}">
<div role="tablist" aria-label="${e(t`Answer and request`)}">
<button id="tab-answer" type="button" role="tab" aria-selected="true" aria-controls="panel-answer">${e(t`Answer as the model gets it`)}</button>
<button id="tab-result" type="button" role="tab" aria-selected="false" aria-controls="panel-result" tabindex="-1">${e(t`Whole result`)}</button>
<button id="tab-request" type="button" role="tab" aria-selected="false" aria-controls="panel-request" tabindex="-1">${e(t`Request`)}</button>
</div>
<div id="panel-answer" role="tabpanel" aria-labelledby="tab-answer"><p class="quiet">${e(t`Run the tool to see its answer.`)}</p></div>
<div id="panel-result" role="tabpanel" aria-labelledby="tab-result" hidden><p class="quiet">${e(t`Run the tool to see its result.`)}</p></div>
<div id="panel-request" role="tabpanel" aria-labelledby="tab-request" hidden></div>
<h2>${e(t`History`)}</h2>
<div id="history"><p class="quiet">${e(t`Nothing has called this tool yet.`)}</p></div>
</section>
</div>
</main>`,
  );
}
