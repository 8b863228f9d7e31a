import { randomBytes } from 'node:crypto';

export interface DashboardPageSources {
  /** Origin of the editor for files of a page. */
  cspSource: string;
  script: string;
  style: string;
  title?: string;
  /** Text until the first state. */
  waiting?: string;
}

/**
 * Renders the page before its first state. The live region stays outside the parts that are redrawn; otherwise a screen
 * reader would not announce it.
 */
export function dashboardPage({
  cspSource,
  script,
  style,
  title = 'Waygate Dashboard',
  waiting = 'Waiting for the gateway…',
}: DashboardPageSources): string {
  const nonce = randomBytes(16).toString('base64');
  const policy = `default-src 'none'; base-uri 'none'; form-action 'none'; style-src ${cspSource}; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${style}">
<title>${title}</title>
</head>
<body>
<div id="live" class="visually-hidden" role="status" aria-live="polite"></div>
<div id="page"><p class="loading">${waiting}</p></div>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>
`;
}
