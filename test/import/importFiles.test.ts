import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLIENT_IDS } from '../../src/import/clientIds.ts';
import { backUp, ChangedMeanwhile, findSources, readNamedSource, replaceFile } from '../../src/import/importFiles.ts';
import { surroundingsOf } from '../../src/import/surroundings.ts';
import { temporaryFolder } from '../support/workspace.ts';

function place(files: Record<string, string>) {
  const root = temporaryFolder('waygate-import-');
  const workspace = join(root, 'w');
  mkdirSync(workspace);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return { root, workspace, at: surroundingsOf(workspace, { HOME: join(root, 'h') }, 'linux') };
}

const entry = (name: string): string => JSON.stringify({ mcpServers: { [name]: { command: name } } });

describe('finding client files', () => {
  it('looks in the workspace, among the user’s files, and in each profile', () => {
    const { at } = place({
      'w/.cursor/mcp.json': entry('a'),
      'h/.cursor/mcp.json': entry('b'),
      'h/.config/Code/User/profiles/-77/mcp.json': JSON.stringify({ servers: { c: { command: 'c' } } }),
    });
    const { sources, unreadable } = findSources(at, CLIENT_IDS);
    expect(unreadable).toEqual([]);
    expect(sources.map(({ client, title, scope }) => [client, title, scope])).toEqual([
      ['vscode', 'VS Code (profile -77)', 'user'],
      ['cursor', 'Cursor', 'workspace'],
      ['cursor', 'Cursor', 'user'],
    ]);
  });

  it('continues after a broken, blank or non-regular file, and reports the place of the error', () => {
    const { root, at } = place({
      'w/.cursor/mcp.json': '{\n  oops',
      'w/.mcp.json': entry('a'),
      'h/.gemini/settings.json': '\n',
    });
    mkdirSync(join(root, 'h/.codex/config.toml'), { recursive: true });
    const { sources, unreadable } = findSources(at, CLIENT_IDS);
    expect(sources.map(({ client }) => client)).toEqual(['claude-code']);
    expect(unreadable.map(({ message }) => message.replace(root, ''))).toEqual([
      expect.stringMatching(/^\/w\/\.cursor\/mcp\.json:2:3: /),
      '/h/.codex/config.toml: it cannot be read (EISDIR).',
    ]);
  });

  it('reads a file once even if two places name it', () => {
    const { root } = place({ 'h/.cursor/mcp.json': entry('a') });
    const home = join(root, 'h');
    expect(findSources(surroundingsOf(home, { HOME: home }, 'linux'), ['cursor']).sources).toHaveLength(1);
  });

  it('reads a named file in its own format', () => {
    const { root, at } = place({ 'x/any.json': entry('a'), 'x/bad.json': '{' });
    expect(readNamedSource(join(root, 'x/any.json'), at)?.sources).toMatchObject([
      { client: 'claude-code', scope: 'named' },
    ]);
    expect(readNamedSource(join(root, 'x/bad.json'), at)?.unreadable).toHaveLength(1);
    expect(readNamedSource(join(root, 'x/none.json'), at)).toBeUndefined();
  });
});

describe('writing files', () => {
  it('creates the folder, and leaves only the file', () => {
    const { workspace } = place({});
    const file = join(workspace, '.vscode', 'waygate.json');
    replaceFile(file, undefined, 'text');
    expect([readFileSync(file, 'utf8'), readdirSync(dirname(file))]).toEqual(['text', ['waygate.json']]);
  });

  it('keeps the mode of the file, and a symbolic link', () => {
    const { root } = place({ 'x/real.json': 'old' });
    const real = join(root, 'x/real.json');
    const link = join(root, 'x/link.json');
    chmodSync(real, 0o640);
    symlinkSync(real, link);
    replaceFile(link, 'old', 'new');
    expect(readFileSync(real, 'utf8')).toBe('new');
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(statSync(real).mode & 0o777).toBe(0o640);
  });

  it('does not overwrite a concurrent change', () => {
    const { root } = place({ 'x/file.json': 'theirs' });
    const file = join(root, 'x/file.json');
    for (const before of ['old', undefined]) expect(() => replaceFile(file, before, 'new')).toThrow(ChangedMeanwhile);
    expect(() => replaceFile(join(root, 'x/gone.json'), 'old', 'new')).toThrow(ChangedMeanwhile);
    expect([readFileSync(file, 'utf8'), existsSync(join(root, 'x/gone.json'))]).toEqual(['theirs', false]);
  });

  it('backs up beside the file, and never overwrites an earlier backup', () => {
    const { root } = place({ 'x/file.json': 'one' });
    const file = join(root, 'x/file.json');
    const first = backUp(file);
    writeFileSync(file, 'two');
    const second = backUp(file);
    expect([first, second]).toEqual([`${file}.waygate-backup`, `${file}.waygate-backup-2`]);
    expect([first, second].map((copy) => readFileSync(copy, 'utf8'))).toEqual(['one', 'two']);
  });
});
