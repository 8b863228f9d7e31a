import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { CallRecord } from '../../../src/control/activityContract.ts';
import type { DocumentPlace } from '../../../src/extension/documents/addresses.ts';
import { driver, eventually } from '../harness/driver.ts';
import type { TreeRow } from '../harness/driverProtocol.ts';
import { fixture, gatewayStatus, withControl } from './gateway.ts';
import { approveAll, configure } from './person.ts';

/** Calls of a client at the fixture `works`, and what the window shows of them. */

/** Name of the gateway of the first folder. */
export const GATEWAY = 'waygate';
export const SECRET = 'battery-horse-staple-correct-9';

/** Entry of the fixture in waygate.json. */
export const works = () => ({
  command: 'node',
  args: [fixture('server.mjs'), '--wild', '--stderr-flood', '500'],
  env: { WORKS_TOKEN: SECRET },
});

let tools: Map<string, string>;

export const toolId = (name: string): string => tools.get(name) ?? `works:${name}#00000000`;

/** Calls a tool as a client would, and returns the text of its answer. */
export async function call(name: string, args: object = {}, more: object = {}): Promise<string> {
  return withControl(async (control) => {
    const { content } = await control.request('callTool', {
      name: 'tool_execute',
      args: { tool_id: toolId(name), args, ...more },
    });
    return content.map(({ text }) => text).join('\n');
  });
}

export async function lastCall(name: string): Promise<CallRecord & { run: number }> {
  const { worker } = await gatewayStatus();
  const record = await eventually(
    `the record of ${name}`,
    async () => {
      const { calls } = await withControl((control) => control.request('calls', { limit: 50 }));
      return calls.find((one) => one.toolId === toolId(name));
    },
    // Tokens and handles are counted after the end of a call that was sent.
    (seen) => seen?.tokensOut !== undefined || (seen?.phase === 'done' && seen.attempts === 0),
  );
  assert.ok(record);
  return { ...record, run: worker.pid };
}

export async function row(label: string, willDo: (row: TreeRow) => boolean = () => true): Promise<TreeRow> {
  const found = await eventually(
    `the row of ${label}`,
    async () => (await driver.rows('Activity')).find((one) => one.label === label),
    (seen) => seen !== undefined && willDo(seen),
  );
  assert.ok(found);
  return found;
}

export async function open(place: DocumentPlace): Promise<vscode.TextDocument> {
  await vscode.commands.executeCommand('vscode.open', vscode.Uri.from(place));
  const editor = await eventually(
    `the document ${place.path}`,
    () => vscode.window.activeTextEditor,
    (seen) => seen?.document.uri.path === place.path,
  );
  assert.ok(editor);
  return editor.document;
}

/** Configures the fixture, waits for its tools, and returns a function that removes it. */
export async function withWorks(): Promise<() => Promise<void>> {
  const restore = await configure((configuration) => {
    configuration.servers.works = works();
  });
  await eventually(
    'the server',
    async () => (await gatewayStatus()).servers.map(({ name, state }) => `${name} ${state}`),
    (seen) => seen.some((one) => one.startsWith('works ')),
  );
  await approveAll();
  await eventually(
    'the tools of the server',
    async () => {
      const { namespaces } = await withControl((control) => control.request('catalog', {}));
      const listed = namespaces.find(({ server }) => server === 'works')?.tools ?? [];
      tools = new Map(listed.map(({ id }) => [id.replace(/^works:|#.*$/g, ''), id]));
      const { servers } = await gatewayStatus();
      return [...tools.keys(), ...servers.map(({ name, state, reason }) => `${name} ${state} ${reason}`)];
    },
    (seen) => seen.includes('crash'),
  );
  return restore;
}
