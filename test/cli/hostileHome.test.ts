import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLIENT_IDS } from '../../src/import/clientIds.ts';
import { clientSource } from '../../src/import/sources/all.ts';
import { surroundingsOf } from '../../src/import/surroundings.ts';
import { waygate } from '../support/census.ts';
import { temporaryFolder, testWorkspace } from '../support/workspace.ts';

const TOKEN = `ghp_${'h0'.repeat(18)}`;
const ESCAPE = '\u001b[2J\u202egnirts';
/** Controls of a terminal, and lines of a stack trace. */
const HIDDEN = ['\u001b', '\u202e', '\n    at '];
const TABLE = { [`${ESCAPE}a`]: { command: `x${ESCAPE}`, env: { T: TOKEN } }, __proto__x: { command: 7 }, 'b\n': {} };

/** Ways in which a client's file can be hostile: each makes the file. */
const HOSTILE: readonly ((file: string) => void)[] = [
  (file) => writeFileSync(file, `{ "mcpServers": { "a": { "env": { "T": "${TOKEN}" ${ESCAPE}`),
  (file) => writeFileSync(file, '['.repeat(200_000)),
  (file) => writeFileSync(file, JSON.stringify({ mcpServers: TABLE, servers: TABLE, context_servers: TABLE })),
  (file) => writeFileSync(file, `[mcp_servers."${'x'.repeat(10_000)}"]\ncommand = `),
  (file) => writeFileSync(file, Buffer.from([0xff, 0xfe, 0x00, 0x01, 0x80])),
  (file) => mkdirSync(file),
  (file) => symlinkSync(file, file),
  (file) => symlinkSync('/dev/zero', file),
  (file) => void execFileSync('mkfifo', [file]),
  (file) => {
    writeFileSync(file, '');
    truncateSync(file, 100 * 1024 * 1024);
  },
];

function hostileHome(shift: number) {
  const workspace = testWorkspace();
  const home = temporaryFolder('waygate-hostile-');
  const env = { ...workspace.env, HOME: home, USERPROFILE: home };
  const at = surroundingsOf(workspace.folder, env);
  const files = CLIENT_IDS.map(
    (id) =>
      clientSource(id)
        .places(at)
        .find(({ scope }) => scope === 'user')?.file as string,
  );
  for (const [index, file] of files.entries()) {
    mkdirSync(dirname(file), { recursive: true });
    HOSTILE[(index + shift) % HOSTILE.length]?.(file);
  }
  return { ...workspace, env };
}

describe.skipIf(process.platform === 'win32')('a home folder with hostile files of other clients', () => {
  it.each(HOSTILE.map((_, shift) => shift))(
    'hangs no command, and gets nothing hidden or secret through (%i)',
    async (shift) => {
      const workspace = hostileHome(shift);
      const results = await Promise.all(
        [['import', '--dry-run'], ['import', '--all', '--json'], ['approve'], ['status'], ['uninstall', '--json']].map(
          (args) => waygate(workspace, args),
        ),
      );
      for (const { code, stdout, stderr } of results) {
        expect([0, 1, 65, 66]).toContain(code);
        const printed = stdout + stderr;
        expect(printed).not.toContain(TOKEN);
        expect(HIDDEN.filter((hidden) => printed.includes(hidden))).toEqual([]);
      }
    },
  );

  it.each(CLIENT_IDS)('changes no hostile file of %s', async (client) => {
    const workspace = testWorkspace();
    const home = temporaryFolder('waygate-hostile-');
    const env = { ...workspace.env, HOME: home, USERPROFILE: home };
    for (const { file } of clientSource(client).places(surroundingsOf(workspace.folder, env))) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `{ "mcpServers": { "a": { "T": "${TOKEN}" ${ESCAPE}`);
      const args = ['client-config', client, '--write', '--yes'];
      const { code, stdout, stderr } = await waygate({ ...workspace, env }, args);
      expect(readFileSync(file, 'utf8')).toContain(TOKEN);
      if (code !== 0) expect(stderr).toMatch(/^waygate: [^\n]+\n$/);
      expect([TOKEN, ...HIDDEN].filter((hidden) => (stdout + stderr).includes(hidden))).toEqual([]);
    }
  });
});
