import { describe, expect, it } from 'vitest';
import type { RecordSourceRow } from '../../src/control/recordsContract.ts';
import { recordsMessage, sourceRow, sourceTooltip, streamRow } from '../../src/extension/records/recordRows.ts';

const HISTORY: RecordSourceRow = {
  connection: 'history',
  kind: 'history',
  isGranted: true,
  streams: [
    { name: 'calls', records: 1_200 },
    { name: 'faults', records: 34 },
  ],
  malformed: 0,
};

const textsOf = (row: RecordSourceRow): string[] => sourceTooltip(row).map(({ text }) => text);

describe('a record source in the view', () => {
  it('shows what it holds, and whether agents may read it', () => {
    expect(sourceRow(HISTORY)).toMatchObject({
      label: 'History of this gateway',
      description: '1,234 records',
      icon: { id: 'pass' },
      contextValue: 'waygate.recordSource.granted',
      accessibilityLabel: 'History of this gateway, 1,234 records',
    });
    const agents: RecordSourceRow = { ...HISTORY, connection: 'agents', kind: 'agents', isGranted: false, streams: [] };
    expect(sourceRow(agents)).toMatchObject({
      label: 'Logs of your agents',
      description: 'not granted',
      // Without a grant there is nothing to revoke.
      contextValue: 'waygate.recordSource',
    });
    expect(textsOf(agents)).toContain('Agents cannot read it. Grant it with Add Record Source.');
  });

  it('shows limits, the end of the grant, unreadable lines and problems', () => {
    const folder: RecordSourceRow = {
      connection: 'folder-notes-1',
      kind: 'folder',
      path: '/home/me/notes [x](command:evil)',
      isGranted: true,
      streams: [{ name: 'notes', records: 1 }],
      limits: [{ name: 'notes', fields: ['title', 'text'] }],
      since: '2026-01-01T00:00:00.000Z',
      expires: '2026-12-24T00:00:00.000Z',
      malformed: 3,
    };
    const row = sourceRow(folder);
    expect(row.description).toBe('1 record, until 2026-12-24');
    expect(row.label).not.toContain('](');
    expect(row.icon.id).toBe('clock');
    expect(textsOf(folder)).toEqual([
      'notes [x](command:evil)',
      '/home/me/notes [x](command:evil)',
      'Stream notes with the fields title, text.',
      'Nothing before 2026-01-01T00:00:00.000Z.',
      'The grant ends on 2026-12-24T00:00:00.000Z.',
      '3 lines could not be read.',
    ]);
    const failing = { ...folder, problem: 'The disk is full' };
    expect(sourceRow(failing)).toMatchObject({ description: 'The disk is full.', icon: { id: 'warning' } });
  });

  it('has a row for each stream, and a message only if no grant counts', () => {
    expect(streamRow('history', { name: 'calls', records: 1 })).toMatchObject({
      id: 'records:history:calls',
      description: '1 record',
    });
    expect(recordsMessage({ sources: [] })).toBeUndefined();
    expect(recordsMessage({ sources: [], problem: 'the file is damaged' })).toBe('the file is damaged.');
  });
});
