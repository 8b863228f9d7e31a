// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references in the configuration's own syntax
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { importServers } from '../../src/cli/commands/import.ts';
import type { Terminal } from '../../src/cli/terminal.ts';
import { temporaryFolder, WAYGATE } from '../support/workspace.ts';

const SECRET = `ghp_${'f1'.repeat(18)}`;
const github = { command: 'github', env: { GITHUB_TOKEN: SECRET } };
const files = { command: 'files', args: ['.'] };
const servers = (entries: object): string => `${JSON.stringify({ mcpServers: entries }, null, 2)}\n`;

/** Separate home and workspace, so that the tests never look at the real ones. */
function place(contents: Record<string, string>) {
  const root = temporaryFolder('waygate-import-');
  const [home, workspace] = [join(root, 'h'), join(root, 'w')];
  for (const folder of [home, workspace]) mkdirSync(folder);
  for (const [name, text] of Object.entries(contents)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const env = { PATH: process.env.PATH, HOME: home, WAYGATE_STATE_DIR: join(home, 'state') };
  const target = join(workspace, '.vscode', 'waygate.json');
  return {
    root,
    env,
    workspace,
    target,
    read: (name: string): string => readFileSync(join(root, name), 'utf8'),
    written: (): unknown => JSON.parse(readFileSync(target, 'utf8')),
    run: (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [WAYGATE, 'import', ...args], {
        cwd: workspace,
        env,
        encoding: 'utf8',
        input: '',
      });
      return { status, stdout: stdout.replaceAll(root, ''), stderr: stderr.replaceAll(root, '') };
    },
  };
}

/** Removes the part on servers that cannot be started yet: it changes with the loader, which has its own tests. */
const withoutWaiting = (text: string): string =>
  text.replace(/This version of Waygate cannot start these servers yet[^\n]*\n( {2}[^\n]*\n)*/, '');

describe('waygate import', () => {
  it('imports and reports everything it finds, and changes no source', () => {
    const one = place({
      'w/.cursor/mcp.json': servers({ github, files }),
      'h/.codex/config.toml': '[mcp_servers.web]\nurl = "https://w.test"\n',
      'h/.gemini/settings.json': servers({ files, 'a b': {} }),
    });
    const before = one.read('w/.cursor/mcp.json');
    const { status, stdout, stderr } = one.run('--all');
    expect([status, stderr]).toEqual([0, 'Next: waygate approve --all shows what each server would run, and asks.\n']);
    expect(withoutWaiting(stdout)).toMatchInlineSnapshot(`
      "Imported 3 servers into /w/.vscode/waygate.json:
        github  from Cursor (/w/.cursor/mcp.json)
          env.GITHUB_TOKEN was in clear text and is now \${input:github-token}
        files  from Cursor (/w/.cursor/mcp.json)
        web  from Codex (/h/.codex/config.toml)
      Found twice: "files" of Gemini CLI (/h/.gemini/settings.json).
      The values of these inputs are kept in /h/state/secrets.json, readable only by you.
      Skipped: "a b" of Gemini CLI (/h/.gemini/settings.json): it has neither a command nor a URL.
      These clients still start the same servers directly, in addition to the gateway. To stop that (or use --remove-from-source):
        Cursor: delete "mcpServers" → "github", "mcpServers" → "files" in /w/.cursor/mcp.json
        Codex: delete [mcp_servers.web] in /h/.codex/config.toml
        Gemini CLI: delete "mcpServers" → "files" in /h/.gemini/settings.json
      "
    `);
    expect(one.written()).toMatchObject({
      servers: {
        github: { command: 'github', env: { GITHUB_TOKEN: '${input:github-token}' } },
        files,
        web: { url: 'https://w.test' },
      },
      inputs: [{ id: 'github-token', password: true }],
    });
    expect(one.read('w/.cursor/mcp.json')).toBe(before);
    expect(readdirSync(join(one.workspace, '.vscode'))).toEqual(['waygate.json']);
  });

  it('prints a new file with --dry-run, and no difference of line endings in an existing file', () => {
    const fresh = place({ 'w/.cursor/mcp.json': servers({ files }) }).run('--dry-run');
    expect(fresh.stdout).toMatch(/^--- \/dev\/null\n\+\+\+ \/w\/\.vscode\/waygate\.json\n@@ -0,0 \+1,\d+ @@\n\+\{\n/);
    const windows = {
      'w/.vscode/waygate.json': '{\r\n  "servers": {\r\n  }\r\n}\r\n',
      'w/.mcp.json': servers({ files }),
    };
    expect(place(windows).run('--dry-run').stdout).toMatch(/^---.*\n\+\+\+.*\n@@.*\n \{\n/);
  });

  it('prints with --dry-run the changes, and writes nothing', () => {
    const one = place({
      'w/.cursor/mcp.json': servers({ files }),
      'w/.mcp.json': servers({ github }),
      'w/.vscode/waygate.json':
        '{\n  // mine\n  "servers": {\n    "old": { "command": "o", "env": { "TOKEN": "fixture-standing" } }\n  }\n}\n',
    });
    const before = one.read('w/.vscode/waygate.json');
    const { status, stdout } = one.run('--dry-run');
    const output = one.run('--dry-run', '--remove-from-source', 'files').stdout;
    expect(output).toContain('Would remove "mcpServers" → "files" from /w/.cursor/mcp.json, after a backup.');
    expect(status).toBe(0);
    expect(withoutWaiting(stdout)).toMatchInlineSnapshot(`
      "--- /w/.vscode/waygate.json
      +++ /w/.vscode/waygate.json
      @@ -1,6 +1,24 @@
       {
         // mine
         "servers": {
      -    "old": { "command": "o", "env": { "TOKEN": "•••" } }
      -  }
      +    "old": { "command": "o", "env": { "TOKEN": "•••" } },
      +    "github": {
      +      "command": "github",
      +      "env": {
      +        "GITHUB_TOKEN": "\${input:github-token}"
      +      }
      +    },
      +    "files": {
      +      "command": "files",
      +      "args": ["."]
      +    }
      +  },
      +  "inputs": [
      +    {
      +      "type": "promptString",
      +      "id": "github-token",
      +      "description": "GITHUB_TOKEN of the MCP server github",
      +      "password": true
      +    }
      +  ]
       }
      Would import 2 servers into /w/.vscode/waygate.json:
        github  from Claude Code (/w/.mcp.json)
          env.GITHUB_TOKEN was in clear text and is now \${input:github-token}
        files  from Cursor (/w/.cursor/mcp.json)
      The values of these inputs would be kept in /h/state/secrets.json, readable only by you.
      These clients still start the same servers directly, in addition to the gateway. To stop that (or use --remove-from-source):
        Claude Code: delete "mcpServers" → "github" in /w/.mcp.json
        Cursor: delete "mcpServers" → "files" in /w/.cursor/mcp.json
      "
    `);
    expect(stdout).not.toMatch(/fixture-standing|ghp_/);
    expect(one.read('w/.vscode/waygate.json')).toBe(before);
    expect(readdirSync(join(one.workspace, '.cursor'))).toEqual(['mcp.json']);
  });

  it('changes nothing the second time', () => {
    const one = place({ 'w/.cursor/mcp.json': servers({ github, files }) });
    one.run('--all');
    const first = one.read('w/.vscode/waygate.json');
    const { status, stdout } = one.run('--all');
    expect([status, one.read('w/.vscode/waygate.json')]).toEqual([0, first]);
    expect(stdout).toContain('There is nothing to import');
    expect(stdout).toContain('Already configured: "github" of Cursor');
  });

  it('removes entries from their source on request, after a backup, except those that cannot be started yet', () => {
    const unset = { command: 'u', args: ['${env:NOT_SET_ANYWHERE}'] };
    const one = place({ 'w/.cursor/mcp.json': servers({ unset, files }) });
    const before = one.read('w/.cursor/mcp.json');
    const { stdout } = one.run('--all', '--remove-from-source', '--yes');
    expect(stdout).toContain('\n  unset  "servers.unset.args[0]": The environment variable NOT_SET_ANYWHERE');
    expect(stdout).toContain('Removed "mcpServers" → "files" from /w/.cursor/mcp.json;');
    expect(stdout).toContain(
      'Kept in /w/.cursor/mcp.json, because this version of Waygate cannot start it yet: "mcpServers" → "unset".',
    );
    expect(JSON.parse(one.read('w/.cursor/mcp.json'))).toEqual({ mcpServers: { unset } });
    expect(one.read('w/.cursor/mcp.json.waygate-backup')).toBe(before);
  });

  it('warns that a file of the user also serves other folders', () => {
    const one = place({ 'h/.cursor/mcp.json': servers({ files }) });
    expect(one.run('--all', '--remove-from-source', '--yes').stdout).toContain('other folders lose them too');
  });

  it('imports only the named servers and sources', () => {
    const one = place({ 'w/.cursor/mcp.json': servers({ github, files }), 'w/.mcp.json': servers({ other: files }) });
    expect(one.run('files', '--from', 'cursor').status).toBe(0);
    expect(one.written()).toEqual({ servers: { files } });
    const file = join(one.root, 'x.json');
    writeFileSync(file, JSON.stringify({ servers: { named: { command: 'n' } } }));
    expect(one.run('--from', file).status).toBe(0);
    expect(one.written()).toEqual({ servers: { files, named: { command: 'n' } } });
  });
});

describe('exit code of waygate import', () => {
  it.each<[string, number, string[], RegExp]>([
    ['an unknown option', 64, ['--form', 'cursor'], /did you mean "--from"/],
    ['an unknown client', 64, ['--from', 'cursr'], /did you mean "cursor"/],
    ['an unknown server', 64, ['--from', 'cursor', 'file'], /no source has a server "file"; did you mean "files"/],
    ['no selection without a terminal', 64, [], /name servers, or use --all/],
    ['a file that does not exist', 66, ['--from', './none.json'], /none\.json does not exist/],
    [
      'a client without servers',
      66,
      ['--from', 'zed'],
      /zed has no servers here; looked for .*\/w\/\.zed\/settings\.json/,
    ],
    ['a broken source that is named', 65, ['--from', 'claude-code'], /\/w\/\.mcp\.json:1:2: it is not JSON/],
  ])('%s: %d', (_, code, args, message) => {
    const one = place({ 'w/.cursor/mcp.json': servers({ files }), 'w/.mcp.json': '{oops' });
    const { status, stderr } = one.run(...args);
    expect([status, stderr]).toEqual([code, expect.stringMatching(message)]);
    expect(existsSync(one.target)).toBe(false);
  });

  it('is 65 if a named source is broken; the other sources are imported', () => {
    const one = place({ 'w/.cursor/mcp.json': servers({ files }), 'w/.mcp.json': '{oops' });
    expect(one.run('--from', 'claude-code', '--from', 'cursor').status).toBe(65);
    expect(one.written()).toEqual({ servers: { files } });
  });

  it('is 0 if an unnamed source is broken; the error is reported', () => {
    const one = place({ 'w/.cursor/mcp.json': servers({ files }), 'w/.mcp.json': '{oops' });
    const { status, stderr } = one.run('--all');
    expect([status, stderr]).toEqual([0, expect.stringContaining('/w/.mcp.json:1:2: it is not JSON')]);
  });

  it('is 65 if the file to write is broken, which stays unchanged', () => {
    const one = place({ 'w/.cursor/mcp.json': servers({ files }), 'w/.vscode/waygate.json': '{ "servers": ' });
    const { status, stderr } = one.run('--all');
    expect([status, stderr]).toEqual([
      65,
      expect.stringMatching(/\/w\/\.vscode\/waygate\.json:1:\d+: This is not JSON.*nothing was written\.\n$/),
    ]);
    expect(one.read('w/.vscode/waygate.json')).toBe('{ "servers": ');
  });

  it('is 66 if no client has servers; the searched places are listed', () => {
    const { status, stderr } = place({}).run('--all');
    expect([status, stderr]).toEqual([66, expect.stringContaining('/h/.codeium/windsurf/mcp_config.json')]);
  });
});

describe('on a terminal', () => {
  function terminal(answer: boolean) {
    const recorded = { out: '', questions: [] as string[] };
    const faked: Terminal = {
      out: (text) => {
        recorded.out += text;
      },
      err: (text) => {
        recorded.out += text;
      },
      interactive: true,
      confirm: async (question) => {
        recorded.questions.push(question);
        return answer;
      },
    };
    return { recorded, faked };
  }
  const command = { from: [], names: [], all: false, dryRun: false, removeFromSource: false, yes: false, json: false };

  it.each([true, false])('lists the servers found and asks once; obeys the answer %s', async (answer) => {
    const one = place({ 'w/.cursor/mcp.json': servers({ files }) });
    const { recorded, faked } = terminal(answer);
    expect(await importServers({ ...command, workspace: one.workspace }, one.env, faked)).toBe(0);
    expect(recorded.out).toMatch(/^Found 1 server:\n {2}files {2}from Cursor /);
    expect(recorded.questions).toEqual([`Import it into ${one.target}?`]);
    expect(existsSync(one.target)).toBe(answer);
  });

  it.each([true, false])(
    'shows what would disappear from a source before it asks; obeys the answer %s',
    async (answer) => {
      const one = place({ 'w/.cursor/mcp.json': servers({ files }) });
      const { recorded, faked } = terminal(answer);
      const removing = { ...command, all: true, removeFromSource: true, workspace: one.workspace };
      expect(await importServers(removing, one.env, faked)).toBe(0);
      expect(recorded.questions).toEqual(['Remove them?']);
      expect(recorded.out).toMatch(/^Would remove "mcpServers" → "files" from .*, after a backup\.\nImported 1 server/);
      expect(existsSync(one.target)).toBe(true);
      expect(JSON.parse(one.read('w/.cursor/mcp.json'))).toEqual({ mcpServers: answer ? {} : { files } });
    },
  );

  it('removes nothing from a source where nobody can be asked', () => {
    const one = place({ 'w/.cursor/mcp.json': servers({ files }) });
    const { status, stderr, stdout } = one.run('--all', '--remove-from-source');
    expect([status, stderr]).toEqual([0, expect.stringMatching(/nothing was removed from the files of the clients/)]);
    expect(stdout).toMatch(/^Would remove/);
    expect(JSON.parse(one.read('w/.cursor/mcp.json'))).toEqual({ mcpServers: { files } });
    expect(existsSync(one.target)).toBe(true);
  });

  it('asks nothing if the command line has a selection', async () => {
    const one = place({ 'w/.cursor/mcp.json': servers({ files }) });
    const { recorded, faked } = terminal(false);
    await importServers({ ...command, all: true, workspace: one.workspace }, one.env, faked);
    expect([recorded.questions, existsSync(one.target)]).toEqual([[], true]);
  });
});
