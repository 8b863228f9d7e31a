#!/usr/bin/env node
// Replaces VS Code's own program where no desktop VS Code can be downloaded. Maps the arguments of runTests to the
// server build and a headless Chromium, and exits with the exit code of the tests.

import { appendFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { endGroup } from '../../../scripts/lib/processes.mjs';
import { startServer } from '../../../scripts/lib/serverBuild.mjs';
import { startDriver } from './driverServer.ts';
import { CHROMIUM_FLAGS, readLaunchArguments, workbenchAddress } from './launchArguments.ts';

/** Device pixels per pixel of the page. Two make a sharp picture and a slower run. */
const PIXELS = Number(process.env.WAYGATE_PICTURE_PIXELS ?? 1);

/** Height of the window. Three views share the sidebar, and VS Code draws only the rows that fit. */
const HEIGHT = process.env.WAYGATE_PICTURE_PIXELS === undefined ? 2_000 : 900;

const RUN_LIMIT_MS = 8 * 60_000;

function environment(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: start this by "npm test -- --only editor".`);
  return value;
}

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (reason: Error) => void = () => {};
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}

async function main(): Promise<number> {
  const launch = readLaunchArguments(process.argv.slice(2));
  // The server build always keeps user data in `data` below its own folder.
  if (basename(launch.userDataDir) !== 'data') throw new Error('--user-data-dir must be a folder called "data".');
  const logFile = environment('WAYGATE_EDITOR_LOG');
  const log = (line: string) => appendFileSync(logFile, `${line}\n`);

  const opened = deferred<Page>();
  const driver = await startDriver(() => opened.promise, environment('WAYGATE_SCREENSHOTS'));
  const leaving: (() => unknown)[] = [() => driver.close()];
  try {
    const { child, port } = await startServer(
      { node: environment('WAYGATE_EDITOR_NODE'), server: environment('WAYGATE_EDITOR_SERVER') },
      {
        dataFolder: dirname(launch.userDataDir),
        extensionsFolder: launch.extensionsDir,
        // Without a token the page needs no cookie. Only this run knows the port, which closes with the run.
        args: ['--without-connection-token', '--enable-smoke-test-driver', '--reconnection-grace-time', '1'],
        env: { ...process.env, ...driver.environment },
        onLine: (line) => log(`[server] ${line}`),
      },
    );
    leaving.push(() => endGroup(child));
    const browser = await chromium.launch({ executablePath: environment('WAYGATE_CHROMIUM'), args: CHROMIUM_FLAGS });
    leaving.push(() => browser.close());
    const page = await browser.newPage({ viewport: { width: 1400, height: HEIGHT }, deviceScaleFactor: PIXELS });
    page.on('console', (message) => log(`[page] ${message.text()}`));
    const ended = deferred<number>();
    await page.exposeFunction('codeAutomationLog', (type: string, args: unknown[]) =>
      log(`[host ${type}] ${args.map((arg) => (typeof arg === 'string' ? arg : JSON.stringify(arg))).join(' ')}`),
    );
    await page.exposeFunction('codeAutomationExit', (code: number) => ended.resolve(code));
    page.on('crash', () => ended.reject(new Error('The page crashed.')));
    child.once('exit', (code) =>
      ended.reject(new Error(`The VS Code server ended in the middle (exit code ${code}).`)),
    );
    const limit = setTimeout(
      () => ended.reject(new Error(`The tests did not end within ${RUN_LIMIT_MS / 60_000} minutes.`)),
      RUN_LIMIT_MS,
    );
    await page.goto(workbenchAddress(port, launch));
    opened.resolve(page);
    return await ended.promise.finally(() => clearTimeout(limit));
  } finally {
    for (const leave of leaving.reverse()) await leave();
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
