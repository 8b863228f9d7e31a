import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { endGroup } from '../../../scripts/lib/processes.mjs';
import { addDemoExtension } from '../../../scripts/lib/profile.mjs';
import { ensureServerBuild, startServer } from '../../../scripts/lib/serverBuild.mjs';
import { ensureBrowser } from '../../../scripts/lib/systemPackages.mjs';
import { atEnd } from '../../support/lifetime.ts';
import { type TestWorkspace, temporaryFolder } from '../../support/workspace.ts';
import { CHROMIUM_FLAGS } from '../harness/launchArguments.ts';

const SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.reduceMotion': 'on',
  'workbench.welcomePage.experimentalOnboarding': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
};

interface WindowOptions {
  demo?: boolean;
  /** Opens no folder. */
  isEmpty?: boolean;
  /** Has VS Code decide about the trust in the folder, which it does not trust yet. */
  asksForTrust?: boolean;
  /** Folder of the extension. */
  extension?: string;
}

/** Opens a window as a user does: with toasts and dialogs, which VS Code holds back under its smoke-test driver. */
export async function openWindow(
  workspace: TestWorkspace,
  { demo = false, isEmpty = false, asksForTrust = false, extension = resolve('.') }: WindowOptions = {},
): Promise<Page> {
  const data = temporaryFolder('wg-window-');
  const user = join(data, 'data', 'User');
  mkdirSync(user, { recursive: true });
  writeFileSync(
    join(user, 'settings.json'),
    JSON.stringify({ ...SETTINGS, 'security.workspace.trust.startupPrompt': 'never' }),
  );
  const extensions = join(data, 'extensions');
  mkdirSync(extensions);
  const location = { $mid: 1, scheme: 'file', path: extension };
  const installed = [{ identifier: { id: 'waygate.waygate' }, version: '0.1.0', location, metadata: {} }];
  writeFileSync(join(extensions, 'extensions.json'), JSON.stringify(installed));
  if (demo) addDemoExtension(resolve('.'), extensions);
  const { child, port } = await startServer(await ensureServerBuild(resolve('.')), {
    dataFolder: data,
    extensionsFolder: extensions,
    args: ['--without-connection-token', '--reconnection-grace-time', '1'],
    asksForTrust,
    env: { ...workspace.env, HOME: data },
  });
  atEnd(() => endGroup(child));
  const browser = await chromium.launch({ executablePath: await ensureBrowser(resolve('.')), args: CHROMIUM_FLAGS });
  atEnd(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  page.setDefaultTimeout(60_000);
  await page.goto(
    `http://127.0.0.1:${port}/?${new URLSearchParams(isEmpty ? { ew: 'true' } : { folder: workspace.folder })}`,
  );
  return page;
}
