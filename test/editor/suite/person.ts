import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import * as vscode from 'vscode';
import { driver, eventually } from '../harness/driver.ts';
import type { TreeRow } from '../harness/driverProtocol.ts';
import { configurationFile, EXTENSION_ID, gatewayStatus, settledGateway } from './gateway.ts';

/** What a person does in the window, for the tests that need it done before their own matter begins. */

export interface Configuration {
  servers: Record<string, { command?: string; args?: string[]; env?: Record<string, string>; url?: string }>;
  inputs?: object[];
}

export function readConfiguration(): Configuration {
  return JSON.parse(readFileSync(configurationFile(), 'utf8')) as Configuration;
}

/** Writes the workspace's configuration, waits for the worker that serves it, and returns what puts the one before back. */
export async function configure(edit: (configuration: Configuration) => void): Promise<() => Promise<void>> {
  const file = configurationFile();
  const before = readFileSync(file, 'utf8');
  const write = async (text: string): Promise<void> => {
    writeFileSync(file, text);
    await vscode.commands.executeCommand('waygate.refresh');
    const names = Object.keys((JSON.parse(text) as Configuration).servers)
      .sort()
      .join();
    await eventually(
      `a worker that serves ${names}`,
      () => gatewayStatus().catch(() => undefined),
      (status) =>
        status?.servers
          .map(({ name }) => name)
          .sort()
          .join() === names,
    );
  };
  const configuration = JSON.parse(before) as Configuration;
  edit(configuration);
  await write(JSON.stringify(configuration, null, 2));
  return () => write(before);
}

/** Approves all that waits, where anything does. */
export async function approveAll(): Promise<void> {
  const waiting = (await settledGateway()).servers.filter(({ state }) => state === 'needs_approval');
  if (waiting.length === 0) return;
  await vscode.commands.executeCommand('waygate.tools.focus');
  await vscode.commands.executeCommand('waygate.approveServers');
  const offer = waiting.length === 1 ? `Approve ${waiting[0]?.name}` : `Approve all ${waiting.length} servers`;
  await driver.click(`.codelens-decoration a:has-text(${JSON.stringify(offer)})`);
  await eventually(
    'all to be approved',
    gatewayStatus,
    ({ servers }) => !servers.some(({ state }) => state === 'needs_approval'),
  );
}

/** A row of the tree *Tools*, once it is as it should be. */
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

/** Ends the worker and waits for the next one, in which nothing is left of what the first had in mind. */
export async function anotherWorker(): Promise<void> {
  const before = await settledGateway();
  process.kill(before.worker.pid, 'SIGKILL');
  await eventually(
    'another worker',
    () => settledGateway().catch(() => undefined),
    (status) => status !== undefined && status.worker.pid !== before.worker.pid,
  );
}

/** Under which names VS Code keeps something of ours; undefined where its store is out of the tests' sight. */
export async function keptSecrets(pattern: RegExp): Promise<string[] | undefined> {
  return (await driver.secretNames(EXTENSION_ID))?.filter((name) => pattern.test(name));
}
