import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SKILL_NAME } from '../../src/config/skillInstall.ts';
import { waygate } from '../support/census.ts';
import { testWorkspace } from '../support/workspace.ts';

describe('waygate skill install', () => {
  it('puts the skill where the workspace has its skills, and tells each file', async () => {
    const workspace = testWorkspace();
    mkdirSync(join(workspace.folder, '.claude/skills'), { recursive: true });
    const { code, stdout } = await waygate(workspace, ['skill', 'install']);
    const target = join(workspace.folder, '.claude/skills', SKILL_NAME);
    expect(code).toBe(0);
    expect(stdout.split('\n')).toHaveLength(5);
    expect(stdout).toContain(`wrote     ${join(target, 'SKILL.md')}\n`);
    expect(existsSync(join(target, 'references/checklist.md'))).toBe(true);
  });

  it('takes a folder of its own, and replaces what was changed only when told to', async () => {
    const workspace = testWorkspace();
    const into = join(workspace.folder, 'elsewhere/skills');
    const file = join(into, SKILL_NAME, 'SKILL.md');
    expect((await waygate(workspace, ['skill', 'install', '--into', into])).code).toBe(0);
    writeFileSync(file, 'mine');
    const kept = await waygate(workspace, ['skill', 'install', '--into', into]);
    expect(kept.code).toBe(1);
    expect(kept.stdout).toContain(`kept      ${file}\n`);
    expect(kept.stderr).toMatch(/^waygate: [^\n]+ add --replace [^\n]+\.\n$/);
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect((await waygate(workspace, ['skill', 'install', '--into', into, '--replace'])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain(`name: ${SKILL_NAME}`);
  });
});
