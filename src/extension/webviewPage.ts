import { randomBytes } from 'node:crypto';

export interface PageSources {
  /** Origin of the editor for files of a page. */
  cspSource: string;
  script: string;
  style: string;
}

/** Renders a page whose policy allows its own style and its own script, and nothing else. `body` is markup. */
export function webviewPage({ cspSource, script, style }: PageSources, title: string, body: string): string {
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
${body}
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>
`;
}
