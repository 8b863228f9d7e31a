import assert from 'node:assert/strict';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { ControlClient } from '../../../src/control/client.ts';
import type { GatewaySnapshot } from '../../../src/control/contract.ts';
import { attachControl } from '../../../src/host/attach/attachControl.ts';
import { eventually } from '../harness/driver.ts';

/** Connects to the worker of this window's workspace directly, to compare the extension's views with it. */

export const EXTENSION_ID = 'waygate.waygate';

export function workspaceFolder(): string {
  const folder = vscode.workspace.workspaceFolders?.[0];
  assert.ok(folder, 'the run has a workspace');
  return folder.uri.fsPath;
}

export function configurationFile(): string {
  return join(workspaceFolder(), '.vscode', 'waygate.json');
}

/** Path of a program of `test/fixtures`. */
export function fixture(name: string): string {
  return join(extensionFolder('waygate.waygate-tests'), '..', '..', '..', 'fixtures', name);
}

function extensionFolder(id = EXTENSION_ID): string {
  return vscode.extensions.getExtension(id)?.extensionPath ?? '';
}

export async function withControl<T>(
  use: (control: ControlClient) => Promise<T>,
  workspace = workspaceFolder(),
): Promise<T> {
  const control = await attachControl(
    {
      workspace,
      nodePath: process.execPath,
      workerScript: join(extensionFolder(), 'dist', 'worker.cjs'),
    },
    { start: false, holds: false },
  );
  assert.ok(control, 'the gateway runs');
  try {
    return await use(control);
  } finally {
    control.dispose();
  }
}

export function gatewayStatus(workspace = workspaceFolder()): Promise<GatewaySnapshot> {
  return withControl((control) => control.request('status', {}), workspace);
}

/** Waits until every server of the configuration is ready or has failed. */
export function settledGateway(): Promise<GatewaySnapshot> {
  return eventually(
    'all servers to have answered',
    () => gatewayStatus().catch(() => undefined),
    (status) => status?.servers.every((server) => server.state !== 'starting') === true,
    60_000,
  ) as Promise<GatewaySnapshot>;
}
