import { type PageSources, webviewPage } from '../webviewPage.ts';

/** Renders the page *Try Tool* before its tool is known. Live regions exist from the start, so that they are announced. */
export function tryPage(sources: PageSources): string {
  return webviewPage(
    sources,
    'Try Tool',
    `<div id="live" class="visually-hidden" role="status" aria-live="polite"></div>
<main>
<header>
<h1 id="name">Try Tool</h1>
<p id="place"></p>
<div id="description">Waiting for the gateway…</div>
</header>
<div class="halves">
<section aria-label="Arguments">
<div id="form"></div>
<div id="problems" role="group" aria-label="Problems" tabindex="-1" hidden></div>
<div class="actions">
<button id="run" type="button" aria-disabled="true">Run</button>
<button id="cancel" type="button" class="secondary" hidden>Cancel</button>
<button id="copy" type="button" class="secondary">Copy as Call</button>
<p id="status"></p>
</div>
<div id="notice" role="status"></div>
</section>
<section class="result" aria-label="Answer">
<div role="tablist" aria-label="Answer and request">
<button id="tab-answer" type="button" role="tab" aria-selected="true" aria-controls="panel-answer">Answer as the model gets it</button>
<button id="tab-result" type="button" role="tab" aria-selected="false" aria-controls="panel-result" tabindex="-1">Whole result</button>
<button id="tab-request" type="button" role="tab" aria-selected="false" aria-controls="panel-request" tabindex="-1">Request</button>
</div>
<div id="panel-answer" role="tabpanel" aria-labelledby="tab-answer"><p class="quiet">Run the tool to see its answer.</p></div>
<div id="panel-result" role="tabpanel" aria-labelledby="tab-result" hidden><p class="quiet">Run the tool to see its result.</p></div>
<div id="panel-request" role="tabpanel" aria-labelledby="tab-request" hidden></div>
<h2>History</h2>
<div id="history"><p class="quiet">Nothing has called this tool yet.</p></div>
</section>
</div>
</main>`,
  );
}
