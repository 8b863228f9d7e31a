import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ControlClient } from '../../src/control/client.ts';
import type { RecordSourceRow } from '../../src/control/recordsContract.ts';
import { attachControl } from '../../src/host/attach/attachControl.ts';
import { runtimeOf } from '../support/census.ts';
import { GatewaySession } from '../support/gateway.ts';
import { atEnd } from '../support/lifetime.ts';
import { servers, type TestWorkspace, testWorkspace } from '../support/workspace.ts';

/** Covers the editor's requests about records and sessions, with a real worker and a real database. */

async function rig(): Promise<{ workspace: TestWorkspace; host: GatewaySession; editor: ControlClient }> {
  const workspace = testWorkspace({ one: servers.fixture() });
  const host = await GatewaySession.connect(workspace);
  await host.toolId('/one/echo');
  const editor = await attachControl(runtimeOf(workspace), { start: false, holds: true });
  if (!editor) throw new Error('No worker runs.');
  atEnd(() => editor.dispose());
  return { workspace, host, editor };
}

async function source(editor: ControlClient, connection: RegExp): Promise<RecordSourceRow | undefined> {
  const { sources } = await editor.request('records', {});
  return sources.find((one) => connection.test(one.connection));
}

it('shows the history, grants a folder with one stream, and revokes it', async () => {
  const { workspace, editor } = await rig();
  expect(await source(editor, /^history$/)).toMatchObject({ isGranted: true, malformed: 0 });
  expect(await source(editor, /^agents$/)).toMatchObject({ isGranted: false, streams: [] });
  const folder = join(workspace.folder, 'data');
  mkdirSync(folder);
  writeFileSync(join(folder, 'orders.jsonl'), '{"id":"o1","total":3}\n{"id":"o2","total":4}\nbroken\n');
  writeFileSync(join(folder, 'people.csv'), 'id,name\np1,Ana\n');
  expect(await editor.request('recordStreams', { subject: folder })).toEqual({ streams: ['orders', 'people'] });
  expect(await editor.request('recordStreams', { subject: join(folder, 'absent') })).toEqual({
    reason: expect.stringMatching(/absent is not there/),
  });
  const grant = { subject: folder, streams: ['orders'], expires: '30d' };
  expect(await editor.request('grantRecords', grant)).toEqual({});
  const granted = await source(editor, /^folder-data-/);
  expect(granted).toMatchObject({
    kind: 'folder',
    path: folder,
    isGranted: true,
    limits: [{ name: 'orders', fields: 'all' }],
    expires: expect.stringMatching(/^\d{4}-/),
    malformed: 1,
  });
  expect(granted?.streams).toContainEqual({ name: 'orders', records: 2 });
  const connection = granted?.connection ?? '';
  expect(await editor.request('revokeRecords', { connection })).toEqual({});
  expect(await source(editor, /^folder-data-/)).toBeUndefined();
  expect(await editor.request('revokeRecords', { connection })).toEqual({
    reason: expect.stringMatching(/is not granted; granted: history\.$/),
  });
});

it('shows a session, packs it for a question, and says why a file is none', async () => {
  const { workspace, editor } = await rig();
  const file = workspace.write(
    'session.jsonl',
    [
      { id: 'u1', type: 'user_turn', text: 'Search for open invoices' },
      { id: 'tc1', type: 'tool_call', text: 'invoices.search()', parent_id: 'u1' },
      { id: 'u2', type: 'user_turn', text: 'And the weather?' },
    ]
      .map((line) => JSON.stringify(line))
      .join('\n'),
  );
  expect(await editor.request('session', { file })).toEqual({ text: expect.stringContaining('And the weather?') });
  const packed = await editor.request('session', { file, question: 'invoices' });
  expect(packed).toEqual({ text: expect.stringContaining('### tool_call tc1 ← [u1](#user_turn-u1)') });
  expect(packed).toEqual({ text: expect.not.stringContaining('weather') });
  const absent = join(workspace.folder, 'absent.jsonl');
  expect(await editor.request('session', { file: absent })).toEqual({ reason: `${absent} does not exist.` });
});
