import { spawn } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { SKILL_NAME } from '../../src/config/state/skillInstall.ts';
import { waygate } from '../support/census.ts';
import { testWorkspace, WAYGATE } from '../support/workspace.ts';

describe('waygate skill install', () => {
  it.skipIf(process.platform !== 'linux')(
    'reports in one sentence that it cannot create the folder, in /proc too',
    async () => {
      const { env, folder: cwd } = testWorkspace();
      const child = spawn(process.execPath, [WAYGATE, 'skill', 'install', '--into', '/proc/x'], { env, cwd });
      onTestFinished(() => void child.kill('SIGKILL'));
      expect(await text(child.stderr)).toBe('waygate: The folder /proc/x cannot be created (ENOENT).\n');
    },
  );

  it('copies the skill to the workspace’s skills, and lists each file', async () => {
    const workspace = testWorkspace();
    mkdirSync(join(workspace.folder, '.claude/skills'), { recursive: true });
    const { code, stdout } = await waygate(workspace, ['skill', 'install']);
    const target = join(workspace.folder, '.claude/skills', SKILL_NAME);
    expect(code).toBe(0);
    const all = globSync('**/*', { cwd: resolve('dist/skills', SKILL_NAME), withFileTypes: true });
    expect(stdout.split('\n')).toHaveLength(all.filter((entry) => entry.isFile()).length + 1);
    expect(stdout).toContain(`wrote     ${join(target, 'SKILL.md')}\n`);
    expect(existsSync(join(target, 'references/checklist.md'))).toBe(true);
    for (const part of ['src/replay/callJournal.ts', 'src/link/lineFraming.ts', 'test/support/historyChecker.ts']) {
      expect(readFileSync(join(target, 'parts', part))).toEqual(readFileSync(part));
    }
    expect(existsSync(join(target, 'parts/LICENSE'))).toBe(true);
  });

  it('uses a given folder, and replaces changed files only with --replace', async () => {
    const workspace = testWorkspace();
    const into = join(workspace.folder, 'elsewhere/skills');
    const file = join(into, SKILL_NAME, 'SKILL.md');
    expect((await waygate(workspace, ['skill', 'install', '--into', into])).code).toBe(0);
    writeFileSync(file, 'mine');
    const part = join(into, SKILL_NAME, 'parts/src/errors/fault.ts');
    writeFileSync(part, 'of an earlier version');
    const kept = await waygate(workspace, ['skill', 'install', '--into', into]);
    expect(kept.code).toBe(1);
    expect(kept.stdout).toContain(`kept      ${file}\n`);
    expect(kept.stderr).toMatch(/^waygate: [^\n]+ add --replace [^\n]+\.\n$/);
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect(kept.stdout).toContain(`wrote     ${part}\n`);
    expect(readFileSync(part)).toEqual(readFileSync('src/errors/fault.ts'));
    expect((await waygate(workspace, ['skill', 'install', '--into', into, '--replace'])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain(`name: ${SKILL_NAME}`);
  });
});
