import { describe, expect, it } from 'vitest';
import { isDestructive } from '../../src/catalog/destructive.ts';
import { ingestTool } from '../../src/catalog/ingest.ts';

const silent = (name: string, title?: string) => isDestructive({ name, title, annotations: {} });

describe('a tool that says nothing', () => {
  it.each(['delete_row', 'dropTable', 'fs.remove', 'git-reset', 'PurgeQueue', 'revoke_token', 'repo_deletes'])(
    'counts as destructive by its name: %s',
    (name) => expect(silent(name)).toBe(true),
  );
  it.each(['list_deleted', 'get_reset_status', 'create_issue', 'search_format', 'undelete', 'dropdown', 'formatter'])(
    'does not count as destructive by its name: %s',
    (name) => expect(silent(name)).toBe(false),
  );
  it('counts as destructive by its title', () => {
    expect(silent('run', 'Wipe the disk')).toBe(true);
    expect(isDestructive({ name: 'run', annotations: { title: 'Delete all' } })).toBe(true);
  });
  it('counts as destructive if a reading verb only leads to it', () => {
    expect(silent('get_and_delete')).toBe(true);
  });
});

describe('a hint', () => {
  it('of the server counts before its name', () => {
    expect(isDestructive({ name: 'delete_row', annotations: { destructiveHint: false } })).toBe(false);
    expect(isDestructive({ name: 'read', annotations: { destructiveHint: true } })).toBe(true);
    expect(isDestructive({ name: 'delete_row', annotations: { readOnlyHint: true } })).toBe(false);
  });
  it('that is no boolean counts as missing', () => {
    expect(isDestructive({ name: 'delete_everything', annotations: { destructiveHint: 'false' } })).toBe(true);
    expect(isDestructive({ name: 'read', annotations: { destructiveHint: 'true' } })).toBe(false);
  });
  it('becomes a tag, on which the default policy asks', () => {
    const tags = (name: string) => ingestTool({ name, inputSchema: { type: 'object' } }).tool.tags;
    expect(tags('delete_row')).toContain('destructive');
    expect(tags('read_row')).not.toContain('destructive');
  });
});
