import { globSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { endGroup } from '../../../scripts/lib/processes.mjs';
import { addDemoExtension } from '../../../scripts/lib/profile.mjs';
import { ensureServerBuild, startServer } from '../../../scripts/lib/serverBuild.mjs';
import { installPacked } from '../../../scripts/lib/serverEditor.mjs';
import { ensureBrowser } from '../../../scripts/lib/systemPackages.mjs';
import { packBuilt } from '../../../scripts/lib/vsix.mjs';
import { CHROMIUM_FLAGS } from './launchArguments.ts';

const SETTINGS = {
  'workbench.startupEditor': 'none',
  'workbench.reduceMotion': 'on',
  'workbench.welcomePage.experimentalOnboarding': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'extensions.ignoreRecommendations': true,
  'git.enabled': false,
  'remote.autoForwardPorts': false,
  'security.workspace.trust.startupPrompt': 'never',
};

export interface WindowOptions {
  /** Folder, or workspace file, that the window opens. Without one it opens none. */
  folder?: string;
  /** Environment of VS Code and of everything that it starts. */
  env: NodeJS.ProcessEnv;
  demo?: boolean;
  /** Has VS Code decide about the trust in the folder, which it does not trust yet. */
  asksForTrust?: boolean;
  /** Packed extension, which VS Code installs: by default what is built. */
  extension?: string;
  /** Changes the folder of the installed extension, as a translation does. */
  alter?: (folder: string) => void;
  /** Part of the address that sets options of the workbench. */
  payload?: readonly (readonly [string, string])[];
}

export interface OrdinaryWindow {
  page: Page;
  /** Folder with the logs and extensions of this VS Code. */
  data: string;
  /** Process of the VS Code server, whose descendant is the extension host. */
  pid: number;
  close(): Promise<void>;
}

/** Opens a window as a user does: with toasts and dialogs, which VS Code holds back under its smoke-test driver. */
export async function openOrdinaryWindow(options: WindowOptions): Promise<OrdinaryWindow> {
  const { folder, env, demo = false, asksForTrust = false, alter, payload = [] } = options;
  // Short, because it contains sockets, whose paths may have only 100 characters.
  const data = realpathSync(mkdtempSync(join(tmpdir(), 'wg-window-')));
  const leaving: (() => unknown)[] = [() => rmSync(data, { recursive: true, force: true, maxRetries: 5 })];
  const close = async (): Promise<void> => {
    for (const leave of leaving.splice(0).reverse()) await leave();
  };
  try {
    const extensionsFolder = join(data, 'extensions');
    for (const one of [join(data, 'data', 'User'), extensionsFolder]) mkdirSync(one, { recursive: true });
    writeFileSync(join(data, 'data', 'User', 'settings.json'), JSON.stringify(SETTINGS));
    const build = await ensureServerBuild(resolve('.'));
    await installPacked(resolve('.'), build, options.extension ?? (await packed()), data);
    const [installed] = globSync(join(extensionsFolder, 'waygate.waygate-*'));
    if (installed !== undefined) alter?.(installed);
    if (demo) addDemoExtension(resolve('.'), extensionsFolder);
    const { child, port } = await startServer(build, {
      dataFolder: data,
      extensionsFolder,
      args: ['--without-connection-token', '--reconnection-grace-time', '1'],
      asksForTrust,
      env: { ...env, HOME: data },
    });
    leaving.push(() => endGroup(child));
    const browser = await chromium.launch({ executablePath: await ensureBrowser(resolve('.')), args: CHROMIUM_FLAGS });
    leaving.push(() => browser.close());
    const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
    page.setDefaultTimeout(60_000);
    const query = new URLSearchParams(placeOf(folder));
    if (payload.length > 0) query.set('payload', JSON.stringify(payload));
    await page.goto(`http://127.0.0.1:${port}/?${query}`);
    return { page, data, pid: child.pid as number, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function placeOf(folder: string | undefined): Record<string, string> {
  if (folder === undefined) return { ew: 'true' };
  return folder.endsWith('.code-workspace') ? { workspace: folder } : { folder };
}

let packing: Promise<string> | undefined;

/** Packs what is built, once for all windows of this process, and not where another process packs. */
function packed(): Promise<string> {
  if (packing === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'wg-packed-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    packing = packBuilt(resolve('.'), folder);
  }
  return packing;
}
