import { build } from 'esbuild';
import { dashboardPage } from '../../src/extension/dashboard/dashboardPage.ts';

async function bundle(entry: string): Promise<string> {
  const path = new URL(`../../webview/dashboard/${entry}`, import.meta.url).pathname;
  const { outputFiles } = await build({ entryPoints: [path], bundle: true, write: false, target: 'es2023' });
  return outputFiles[0]?.text ?? '';
}

/** Files of the dashboard's page by path, under its real policy. */
export async function pageFiles(origin: string): Promise<Record<string, { contentType: string; body: string }>> {
  const [script, style] = await Promise.all([bundle('main.ts'), bundle('dashboard.css')]);
  const html = dashboardPage({ cspSource: origin, script: `${origin}/d.js`, style: `${origin}/d.css` });
  return {
    '/': { contentType: 'text/html', body: html },
    '/d.js': { contentType: 'text/javascript', body: script },
    '/d.css': { contentType: 'text/css', body: style },
  };
}
