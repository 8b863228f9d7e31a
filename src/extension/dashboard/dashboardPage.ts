import { randomBytes } from 'node:crypto';

export interface DashboardPageSources {
  /** The editor's own origin for a page's files. */
  cspSource: string;
  script: string;
  style: string;
}

/** The page before its first state. The live region stands outside of what is drawn again, or it would stay silent. */
export function dashboardPage({ cspSource, script, style }: DashboardPageSources): string {
  const nonce = randomBytes(16).toString('base64');
  const policy = `default-src 'none'; base-uri 'none'; form-action 'none'; style-src ${cspSource}; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${style}">
<title>Waygate Dashboard</title>
</head>
<body>
<div id="live" class="visually-hidden" role="status" aria-live="polite"></div>
<div id="page"><p class="loading">Waiting for the gateway…</p></div>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>
`;
}
