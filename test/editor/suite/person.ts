import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { processStart } from '../../../src/upstream/process/processStart.ts';
import { driver, eventually } from '../harness/driver.ts';
import type { TreeRow } from '../harness/driverProtocol.ts';
import { configurationFile, EXTENSION_ID, gatewayStatus, settledGateway, withControl } from './gateway.ts';

/** Actions of a user in the window, for tests that need them as a preparation. */

export interface Configuration {
  servers: Record<string, { command?: string; args?: string[]; env?: Record<string, string>; url?: string }>;
  inputs?: object[];
}

export function readConfiguration(): Configuration {
  return JSON.parse(readFileSync(configurationFile(), 'utf8')) as Configuration;
}

/**
 * Writes the workspace's configuration, waits until it is applied, and returns a function that restores the former one.
 */
export async function configure(edit: (configuration: Configuration) => void): Promise<() => Promise<void>> {
  const before = readFileSync(configurationFile(), 'utf8');
  const configuration = JSON.parse(before) as Configuration;
  edit(configuration);
  await write(JSON.stringify(configuration, null, 2));
  return () => write(before);
}

async function write(text: string): Promise<void> {
  writeFileSync(configurationFile(), text);
  await vscode.commands.executeCommand('waygate.refresh');
  const { servers } = JSON.parse(text) as Configuration;
  // A refresh ends at once.
  await eventually(
    'the servers of the configuration',
    () => gatewayStatus().catch(() => undefined),
    (status) => {
      const known = status?.servers.map(({ name }) => name) ?? [];
      return Object.keys(servers).every((name) => known.includes(name));
    },
  );
  await settledGateway();
}

/** Stops the worker and waits for the next one, whose memory is empty. */
export async function anotherWorker(): Promise<void> {
  const { worker } = await settledGateway();
  process.kill(worker.pid, 'SIGKILL');
  await eventually(
    'another worker',
    () => settledGateway().catch(() => undefined),
    (status) => status !== undefined && status.worker.pid !== worker.pid,
  );
  await eventually('the worker before to end', async () => (await processStart(worker.pid)) === undefined);
}

/** Approves all waiting servers by the hashes of what they would run. The suite *Approval* does it in the window. */
export async function approveAll(): Promise<void> {
  const waiting = (await settledGateway()).servers.flatMap(({ approval }) => approval?.hash ?? []);
  if (waiting.length === 0) return;
  await withControl((control) => control.request('approve', { hashes: waiting }));
  await eventually(
    'all to be approved',
    gatewayStatus,
    ({ servers }) => !servers.some(({ state }) => state === 'needs_approval'),
  );
}

/** Returns a row of the tree *Tools*, once it has the expected content. */
export async function toolsRow(label: string, willDo: (row: TreeRow) => boolean): Promise<TreeRow> {
  await vscode.commands.executeCommand('waygate.tools.focus');
  const row = await eventually(
    `the row of ${label}`,
    async () => (await driver.rows('Tools')).find((candidate) => candidate.label === label),
    (seen) => seen !== undefined && willDo(seen),
  );
  assert.ok(row);
  return row;
}

/** Pause between two tries to hover an element; VS Code waits for some of it before it shows a tooltip. */
const HOVER_MS = 3_000;

/** Returns the tooltip of an element that has some words. Hovers again where a change of the element closes it. */
export function tooltipText(element: string, words: string): Promise<string> {
  let hoveredAt = Number.NEGATIVE_INFINITY;
  return eventually(`the tooltip with "${words}"`, async () => {
    const shown = (await driver.texts(`.monaco-hover:has-text("${words}")`)).join();
    if (shown !== '' || Date.now() - hoveredAt < HOVER_MS) return shown;
    hoveredAt = Date.now();
    // A pointer that is there already opens none.
    await driver.hover('.part.statusbar');
    await driver.hover(element);
    return '';
  });
}

/** Returns the names of Waygate's secrets in VS Code's store; undefined if the store is not accessible. */
export async function keptSecrets(pattern: RegExp): Promise<string[] | undefined> {
  return (await driver.secretNames(EXTENSION_ID))?.filter((name) => pattern.test(name));
}
