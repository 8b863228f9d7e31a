import { randomBytes } from 'node:crypto';
import { escapeHtml } from '../text/html.ts';
import { languageOfPages } from './l10n.ts';

export interface PageSources {
  /** Origin of the editor for files of a page. */
  cspSource: string;
  script: string;
  style: string;
}

/**
 * Renders a page whose policy allows its own style and its own script, and nothing else. `body` is markup. The texts of
 * the user's language stand in the page, where its script finds them at once.
 */
export function webviewPage({ cspSource, script, style }: PageSources, title: string, body: string): string {
  const nonce = randomBytes(16).toString('base64');
  const { name, texts } = languageOfPages();
  const translations = JSON.stringify(texts);
  const policy = `default-src 'none'; base-uri 'none'; form-action 'none'; style-src ${cspSource}; script-src 'nonce-${nonce}'`;
  return `<!DOCTYPE html>
<html lang="${escapeHtml(name)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${style}">
<title>${escapeHtml(title)}</title>
</head>
<body data-texts="${escapeHtml(translations)}">
${body}
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>
`;
}
