import { describe, expect, it } from 'vitest';
import { dashboardPage } from '../../src/extension/dashboard/dashboardPage.ts';

const page = (): string =>
  dashboardPage({ cspSource: 'https://csp.test', script: 'https://csp.test/d.js', style: 'https://csp.test/d.css' });
const policyOf = (html: string): string => /Content-Security-Policy" content="([^"]+)"/.exec(html)?.[1] ?? '';

describe('dashboard page', () => {
  it('allows its own style and its own script, and nothing else', () => {
    const directives = policyOf(page()).split('; ');
    expect(directives.slice(0, 4)).toEqual([
      "default-src 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      'style-src https://csp.test',
    ]);
    expect(directives[4]).toMatch(/^script-src 'nonce-[A-Za-z0-9+/]{22}=='$/);
    expect(directives).toHaveLength(5);
    expect(policyOf(page())).not.toContain('unsafe');
  });

  it('gives its script the nonce, a new one for each page', () => {
    const first = page();
    const nonce = /nonce-([^']+)'/.exec(policyOf(first))?.[1];
    expect(first).toContain(`<script nonce="${nonce}" src="https://csp.test/d.js"></script>`);
    expect(policyOf(page())).not.toBe(policyOf(first));
    expect(first).not.toMatch(/<script>|style=|\son\w+=/);
  });

  it('keeps the live region outside the redrawn parts', () => {
    expect(page()).toContain(
      '<div id="live" class="visually-hidden" role="status" aria-live="polite"></div>\n<div id="page">',
    );
  });
});
