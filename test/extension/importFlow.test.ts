// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in the configuration's own syntax
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ImportPrompts, importFlow } from '../../src/extension/import/importFlow.ts';
import type { Conflict, ImportItem } from '../../src/extension/import/importItems.ts';
import { ChangedMeanwhile } from '../../src/import/importFiles.ts';
import { type ImportPlan, ImportRefused } from '../../src/import/planImport.ts';
import { type Removal, restore } from '../../src/import/removeEntries.ts';
import { surroundingsOf } from '../../src/import/surroundings.ts';
import { temporaryFolder } from '../support/workspace.ts';

const SECRET = `ghp_${'f1'.repeat(18)}`;
const files = { command: 'files' };
const github = { command: 'github', env: { GITHUB_TOKEN: SECRET } };
const servers = (entries: object): string => JSON.stringify({ mcpServers: entries });

function place(contents: Record<string, string>) {
  const root = temporaryFolder('waygate-flow-');
  const workspace = join(root, 'w');
  mkdirSync(workspace);
  for (const [name, text] of Object.entries(contents)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const file = join(workspace, '.vscode', 'waygate.json');
  const seen = { items: [] as readonly ImportItem[], conflicts: [] as Conflict[], plans: [] as ImportPlan[] };
  const kept = new Map<string, string>();
  const prompts: ImportPrompts = {
    keep: async (name, value) => void kept.set(name, value),
    choose: async (items) => {
      seen.items = items;
      return new Set(items.filter(({ picked }) => picked).map(({ key }) => key));
    },
    resolve: async (conflict) => {
      seen.conflicts.push(conflict);
      return 'keep both';
    },
    remove: async () => undefined,
    confirm: async (plan) => {
      seen.plans.push(plan);
      return true;
    },
  };
  const at = surroundingsOf(workspace, { HOME: join(root, 'h') }, 'linux');
  return {
    file,
    seen,
    kept,
    run: (answers: Partial<ImportPrompts> = {}) => importFlow(file, at, { ...prompts, ...answers }),
    written: () => JSON.parse(readFileSync(file, 'utf8')) as { servers: object },
  };
}

describe('Import Servers', () => {
  it('lists the servers found with their outcome, and preselects new ones', async () => {
    const one = place({
      'w/.cursor/mcp.json': servers({ github, files, waygate: { command: 'waygate', args: ['serve'] } }),
      'h/.cursor/mcp.json': servers({ files }),
      'w/.vscode/waygate.json': '{"servers": {"known": {"command": "k"}}}',
      'w/.mcp.json': servers({ known: { command: 'k' } }),
    });
    await one.run();
    expect([...one.kept]).toEqual([['input:github-token', SECRET]]);
    const rows = one.seen.items.map(({ label, detail, picked }) => [label, detail.split(' · ')[0], picked]);
    expect(rows).toEqual([
      ['known', 'already there', false],
      ['github', 'env.GITHUB_TOKEN becomes ${input:github-token}', true],
      ['files', '', true],
      ['files', 'the same server as "files"', false],
    ]);
    expect(one.seen.items.map(({ description }) => description.split(' · ')[0])).toEqual([
      'Claude Code',
      'Cursor',
      'Cursor',
      'Cursor',
    ]);
  });

  it('shows names of other files as single lines that hide nothing', async () => {
    const name = 'safe\u202e\nImported 3 servers.';
    const one = place({ 'w/.mcp.json': servers({ [name]: files, 'bad\u200b\nForged': 7 }) });
    const outcome = await one.run();
    // A workspace's server gets a plain name.
    expect(one.seen.items.map(({ label }) => label)).toEqual(['safe-Imported 3 servers']);
    expect(outcome?.report).toContain('  safe-Imported 3 servers  from Claude Code');
    expect(outcome?.report).not.toMatch(/^(?:Imported 3|Forged)/m);
    expect(Object.keys(one.written().servers)).toEqual(['safe-Imported 3 servers']);
  });

  it('writes the previewed changes, and names the next step without a secret', async () => {
    const one = place({ 'w/.cursor/mcp.json': servers({ github, files }) });
    const outcome = await one.run();
    expect(outcome?.written).toBe(true);
    expect(readFileSync(one.file, 'utf8')).toBe(one.seen.plans[0]?.after);
    expect(outcome?.message).toMatch(/^Imported 2 servers\. .*Cursor still starts them directly/);
    expect(outcome?.report).toContain('Cursor: delete "mcpServers" → "github", "mcpServers" → "files" in ');
    expect(JSON.stringify([outcome, one.seen.items])).not.toContain(SECRET);
  });

  it.each([
    ['an existing file', '{ "servers": {} } // mine\n'],
    ['no file', undefined],
  ])('takes the import back to %s, unless it was edited since', async (_, before) => {
    const one = place({
      'w/.cursor/mcp.json': servers({ files }),
      ...(before !== undefined && { 'w/.vscode/waygate.json': before }),
    });
    const outcome = await one.run();
    expect(outcome?.added).toEqual(['files']);
    const after = readFileSync(one.file, 'utf8');
    writeFileSync(one.file, `${after} `);
    expect(() => outcome?.undo()).toThrow(ChangedMeanwhile);
    expect(readFileSync(one.file, 'utf8')).toBe(`${after} `);
    writeFileSync(one.file, after);
    outcome?.undo();
    if (before === undefined) expect(existsSync(one.file)).toBe(false);
    else expect(readFileSync(one.file, 'utf8')).toBe(before);
  });

  it('offers afterwards to remove the entries of each client that still has some', async () => {
    const one = place({ 'w/.cursor/mcp.json': servers({ files }), 'w/.mcp.json': servers({ files }) });
    let asked = 0;
    const remove: ImportPrompts['remove'] = async (removals) => {
      asked += 1;
      return asked === 1 ? removals.slice(0, 1) : removals;
    };
    const outcome = await one.run({ remove });
    const [first] = outcome?.removed ?? [];
    expect(outcome?.leftovers?.clients).toHaveLength(1);
    expect(outcome?.leftovers?.clients).not.toContain(first?.source.title);
    const rest = await outcome?.leftovers?.remove();
    expect(rest?.map(({ source }) => source.title)).toEqual(outcome?.leftovers?.clients);
    expect((await one.run({ remove }))?.leftovers).toBeUndefined();
  });

  it('removes the entries that the user chooses, with a backup only its owner reads, and brings them back', async () => {
    const before = `{ // mine\n  "mcpServers": ${JSON.stringify({ github, files })} }`;
    const one = place({ 'w/.cursor/mcp.json': before, 'h/.cursor/mcp.json': servers({ files }) });
    const cursor = join(dirname(dirname(one.file)), '.cursor', 'mcp.json');
    const own = join(dirname(dirname(dirname(one.file))), 'h', '.cursor', 'mcp.json');
    let offered: readonly Removal[] = [];
    const outcome = await one.run({
      remove: async (removals) => {
        offered = removals;
        return removals.filter(({ source }) => source.file === cursor);
      },
    });
    // The twin in the user's own file is offered, although it was not chosen for the import.
    expect(offered.map(({ source, removed }) => [source.file, removed.map(({ name }) => name)])).toEqual([
      [cursor, ['github', 'files']],
      [own, ['files']],
    ]);
    expect(readFileSync(cursor, 'utf8')).toMatch(/^\{ \/\/ mine\n {2}"mcpServers": \{\s*\} \}$/);
    expect(readFileSync(own, 'utf8')).toBe(servers({ files }));
    expect(outcome?.message).toBe(
      'Imported 2 servers. Removed 2 entries; the log names the backups. Cursor still starts them directly.',
    );
    const [{ backup = '' } = {}] = outcome?.removed ?? [];
    expect(outcome?.report).toContain(`the backup is ${backup}.`);
    expect(readFileSync(backup, 'utf8')).toBe(before);
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    for (const removal of outcome?.removed ?? []) restore(removal);
    expect(readFileSync(cursor, 'utf8')).toBe(before);
  });

  it('offers to remove entries that were imported earlier, and does not undo over an edit', async () => {
    const one = place({
      'w/.vscode/mcp.json': JSON.stringify({ servers: { files, other: { command: 'o' } } }),
      'w/.vscode/waygate.json': JSON.stringify({ servers: { files } }),
    });
    const outcome = await one.run({ choose: async () => new Set(), remove: async (removals) => removals });
    const file = join(dirname(one.file), 'mcp.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ servers: { other: { command: 'o' } } });
    expect(outcome).toMatchObject({ written: false });
    writeFileSync(file, '{}');
    expect(() => restore(outcome?.removed[0] as Removal)).toThrow(ChangedMeanwhile);
    expect(readFileSync(file, 'utf8')).toBe('{}');
  });

  it.each<[string, Partial<ImportPrompts>]>([
    ['choosing', { choose: async () => undefined }],
    ['choosing nothing', { choose: async () => new Set() }],
    ['settling a conflict', { resolve: async () => undefined }],
    ['the preview', { confirm: async () => false }],
  ])('writes nothing when %s is cancelled', async (_, answers) => {
    const current = '{"servers": {"files": {"command": "mine"}}}';
    const one = place({ 'w/.cursor/mcp.json': servers({ files }), 'w/.vscode/waygate.json': current });
    expect(await one.run(answers)).toBeUndefined();
    expect(readFileSync(one.file, 'utf8')).toBe(current);
  });

  it.each([
    ['keep both', { files: { command: 'mine' }, 'files-2': files }],
    ['replace', { files }],
    ['leave out', { files: { command: 'mine' } }],
  ] as const)('a name that is taken: %s', async (answer, expected) => {
    const one = place({
      'w/.cursor/mcp.json': servers({ files }),
      'w/.vscode/waygate.json': '{"servers": {"files": {"command": "mine"}}}',
    });
    let asked: Conflict | undefined;
    await one.run({
      resolve: async (conflict) => {
        asked = conflict;
        return answer;
      },
    });
    expect(asked).toMatchObject({ name: 'files', free: 'files-2', source: 'Cursor' });
    expect(one.written().servers).toEqual(expected);
  });

  it('keeps both of two imported servers with the same name, without a question', async () => {
    const one = place({
      'w/.cursor/mcp.json': servers({ files }),
      'w/.mcp.json': servers({ files: { command: 'other' } }),
    });
    await one.run();
    expect(one.seen.conflicts).toEqual([]);
    expect(Object.keys(one.written().servers)).toEqual(['files', 'files-2']);
  });

  it('reports that there are no servers, and which file could not be read', async () => {
    const outcome = await place({ 'w/.cursor/mcp.json': '{oops' }).run();
    expect(outcome).toMatchObject({
      message: 'No other MCP client has servers for this folder. 1 file could not be read.',
      report: expect.stringMatching(/\.cursor\/mcp\.json:1:2: it is not JSON/),
      written: false,
    });
  });

  it('refuses a broken configuration, and one that changes during the preview', async () => {
    const broken = place({ 'w/.cursor/mcp.json': servers({ files }), 'w/.vscode/waygate.json': '{' });
    await expect(broken.run()).rejects.toThrow(ImportRefused);
    const one = place({ 'w/.cursor/mcp.json': servers({ files }), 'w/.vscode/waygate.json': '{}' });
    const confirm = async (): Promise<boolean> => {
      writeFileSync(one.file, '{ }');
      return true;
    };
    await expect(one.run({ confirm })).rejects.toThrow(ChangedMeanwhile);
    expect(readFileSync(one.file, 'utf8')).toBe('{ }');
  });
});
