import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SKILL_NAME } from '../../src/config/state/skillInstall.ts';
import { type SkillPrompts, skillFlow } from '../../src/extension/skill/skillFlow.ts';
import { temporaryFolder } from '../support/workspace.ts';

const SOURCE = resolve('skills', SKILL_NAME);

function place() {
  const workspace = temporaryFolder('waygate-skill-flow-');
  const asked: string[] = [];
  const prompts: SkillPrompts = {
    choose: async ([first]) => first?.folder,
    resolve: async ({ different }) => {
      asked.push(...different);
      return 'keep';
    },
  };
  const file = join(workspace, '.github/skills', SKILL_NAME, 'SKILL.md');
  return {
    asked,
    file,
    change: () => {
      mkdirSync(join(file, '..'), { recursive: true });
      writeFileSync(file, 'mine');
    },
    run: (answers: Partial<SkillPrompts> = {}) => skillFlow(SOURCE, workspace, { ...prompts, ...answers }),
    text: () => readFileSync(file, 'utf8'),
  };
}

describe('Install MCP Bootstrap Skill', () => {
  it('copies the skill to the chosen folder, and asks nothing else', async () => {
    const { run, asked, text } = place();
    expect((await run())?.message).toBe('Wrote 4 files to .github/skills.');
    expect(text()).toBe(readFileSync(join(SOURCE, 'SKILL.md'), 'utf8'));
    expect((await run())?.message).toBe('Nothing to write in .github/skills.');
    expect(asked).toEqual([]);
  });

  it('asks before it replaces changed files, and keeps them on request', async () => {
    const { run, asked, change, text } = place();
    change();
    expect((await run())?.message).toBe('Wrote 3 files to .github/skills. 1 file of yours kept.');
    expect([asked, text()]).toEqual([['SKILL.md'], 'mine']);
    expect((await run({ resolve: async () => 'replace' }))?.message).toBe('Wrote 1 file to .github/skills.');
    expect(text()).not.toBe('mine');
  });

  it('writes nothing after a cancellation', async () => {
    const { run, change, text, file } = place();
    expect(await run({ choose: async () => undefined })).toBeUndefined();
    expect(() => readFileSync(file)).toThrow('ENOENT');
    change();
    expect(await run({ resolve: async () => undefined })).toBeUndefined();
    expect(text()).toBe('mine');
    expect(() => readFileSync(join(file, '../references/checklist.md'))).toThrow('ENOENT');
  });
});
