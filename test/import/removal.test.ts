import { readFileSync } from 'node:fs';
import { parse } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { RemovalRefused, withoutEntries } from '../../src/import/removal.ts';

const fixture = (name: string): string => readFileSync(`test/fixtures/import/${name}`, 'utf8');

describe('removing entries from a JSON file', () => {
  it('leaves every other line unchanged', () => {
    const before = fixture('zed.settings.json');
    const after = withoutEntries('/x/settings.json', before, [
      ['context_servers', 'nested'],
      ['context_servers', 'remote'],
    ]);
    const gone = before.split('\n').filter((line) => !after.split('\n').includes(line));
    expect(gone.map((line) => line.trim().slice(0, 9))).toEqual(['"nested":', '"extensio', '"remote":']);
    expect(Object.keys((parse(after) as { context_servers: object }).context_servers)).toEqual(['plain', 'extension']);
    expect(after).toContain('// Zed’s own.'.replace('’', "'"));
  });

  it('keeps a byte order mark, and ignores a missing entry', () => {
    expect(withoutEntries('/x.json', '\ufeff{"m": {"a": 1}}', [['m', 'b']])).toBe('\ufeff{"m": {"a": 1}}');
  });

  it('changes nothing in a file with a duplicate name', () => {
    const twice = '{"m": {"a": 1, "a": 2}}';
    expect(() => withoutEntries('/x.json', twice, [['m', 'a']])).toThrow(RemovalRefused);
  });
});

describe('removing tables from a TOML file', () => {
  it('removes a table with its subtables, and nothing else', () => {
    const before = fixture('codex.config.toml');
    const after = withoutEntries('/x/config.toml', before, [
      ['mcp_servers', 'docs'],
      ['mcp_servers', 'dotted.name'],
    ]);
    expect(Object.keys((parseToml(after) as { mcp_servers: object }).mcp_servers)).toEqual(['remote']);
    expect(after).toContain('[tui]\n# Stays where it is.\ntheme = "dark"\n');
    expect(after).toContain('http_headers = { "X-Team" = "blue" }\n');
    expect(after).not.toContain('LOG');
  });

  it('refuses unusual syntax', () => {
    const attempt = () =>
      withoutEntries('/x.toml', 'mcp_servers = { a = { command = "c" } }\n', [['mcp_servers', 'a']]);
    expect(attempt).toThrow(RemovalRefused);
  });

  it('is not confused by text that looks like a header', () => {
    const text = '[mcp_servers.a]\ncommand = "c"\n\n[other]\ntext = """\n[mcp_servers.a]\n"""\nmore = 1\n';
    expect(() => withoutEntries('/x.toml', text, [['mcp_servers', 'a']])).toThrow(RemovalRefused);
  });
});
