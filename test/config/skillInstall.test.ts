import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installSkill, planSkillInstall, SKILL_NAME, skillPlaces } from '../../src/config/state/skillInstall.ts';
import { temporaryFolder } from '../support/workspace.ts';

const SOURCE = resolve('skills', SKILL_NAME);
const ALL = [
  'SKILL.md',
  'references/bootstrap-fresh.md',
  'references/bootstrap-retrofit.md',
  'references/checklist.md',
];

function workspace(contents: Record<string, string> = {}): string {
  const root = temporaryFolder('waygate-skill-');
  for (const [name, text] of Object.entries(contents)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return root;
}

describe('the places for the skill', () => {
  it('begin with .github/skills in an empty folder', () => {
    const places = skillPlaces(workspace());
    expect(places[0]).toEqual({ folder: '.github/skills', readBy: 'GitHub Copilot', there: 'no' });
    expect(places.map(({ folder }) => folder)).toContain('.codex/skills');
  });

  it('begin with folders of skills, then folders of an agent', () => {
    const root = workspace({
      '.codex/skills/x/SKILL.md': '',
      '.claude/settings.json': '{}',
      '.github/skills': 'a file',
    });
    const inUse = skillPlaces(root)
      .slice(0, 3)
      .map(({ folder, there }) => [folder, there]);
    expect(inUse).toEqual([
      ['.codex/skills', 'skills'],
      ['.github/skills', 'agent'],
      ['.claude/skills', 'agent'],
    ]);
  });
});

describe('installing the skill', () => {
  it('writes every file, and nothing the second time', () => {
    const root = workspace();
    const plan = planSkillInstall(SOURCE, root, '.github/skills');
    expect(plan).toMatchObject({
      target: join(root, '.github/skills', SKILL_NAME),
      missing: ALL,
      same: [],
      outdated: [],
      different: [],
    });
    expect(installSkill(plan, { replace: false })).toEqual(ALL);
    for (const file of ALL) expect(readFileSync(join(plan.target, file))).toEqual(readFileSync(join(SOURCE, file)));
    expect(readdirSync(plan.target).sort()).toEqual(['SKILL.md', 'references']);
    const again = planSkillInstall(SOURCE, root, '.github/skills');
    expect(again).toMatchObject({ missing: [], same: ALL, different: [] });
    expect(installSkill(again, { replace: true })).toEqual([]);
  });

  it('keeps changed files unless it should replace them, and adds missing files', () => {
    const changed = `s/${SKILL_NAME}/SKILL.md`;
    const root = workspace({ [changed]: 'mine', [`s/${SKILL_NAME}/notes.md`]: 'also mine' });
    const plan = planSkillInstall(SOURCE, root, 's');
    expect(plan.different).toEqual(['SKILL.md']);
    expect(installSkill(plan, { replace: false })).toEqual(ALL.slice(1));
    expect(readFileSync(join(root, changed), 'utf8')).toBe('mine');
    expect(installSkill(planSkillInstall(SOURCE, root, 's'), { replace: true })).toEqual(['SKILL.md']);
    expect(planSkillInstall(SOURCE, root, 's').same).toEqual(ALL);
    expect(readFileSync(join(root, `s/${SKILL_NAME}/notes.md`), 'utf8')).toBe('also mine');
  });

  it('replaces parts of another version without a question, and no other file', () => {
    const source = workspace({ 'SKILL.md': 'ours', 'parts/LICENSE': 'L', 'parts/src/replay/a.ts': 'new' });
    const root = workspace({
      [`s/${SKILL_NAME}/SKILL.md`]: 'mine',
      [`s/${SKILL_NAME}/parts/src/replay/a.ts`]: 'old',
      [`s/${SKILL_NAME}/parts/src/replay/own.ts`]: 'mine',
    });
    const plan = planSkillInstall(source, root, 's');
    expect(plan).toMatchObject({
      missing: ['parts/LICENSE'],
      outdated: ['parts/src/replay/a.ts'],
      different: ['SKILL.md'],
    });
    expect(installSkill(plan, { replace: false })).toEqual(['parts/LICENSE', 'parts/src/replay/a.ts']);
    const textOf = (file: string): string => readFileSync(join(plan.target, file), 'utf8');
    expect(['SKILL.md', 'parts/src/replay/a.ts', 'parts/src/replay/own.ts'].map(textOf)).toEqual([
      'mine',
      'new',
      'mine',
    ]);
    expect(planSkillInstall(source, root, 's')).toMatchObject({
      outdated: [],
      same: ['parts/LICENSE', 'parts/src/replay/a.ts'],
    });
  });

  it('does not count other line ends as a change', () => {
    const text = readFileSync(join(SOURCE, 'SKILL.md'), 'utf8').replaceAll('\n', '\r\n');
    const root = workspace({ [`s/${SKILL_NAME}/SKILL.md`]: text });
    expect(planSkillInstall(SOURCE, root, 's').same).toEqual(['SKILL.md']);
  });

  it.skipIf(process.platform === 'win32')('does not follow a link out of the workspace', () => {
    const [root, outside] = [workspace({ '.github/x': '' }), workspace({ 'victim.md': 'theirs' })];
    symlinkSync(outside, join(root, '.github/skills'));
    expect(() => planSkillInstall(SOURCE, root, '.github/skills')).toThrow(/\.github\/skills leads out of /);
    expect(readdirSync(outside)).toEqual(['victim.md']);
    // A linked file is replaced by a file; its target stays unchanged.
    mkdirSync(join(root, 's', SKILL_NAME), { recursive: true });
    symlinkSync(join(outside, 'victim.md'), join(root, 's', SKILL_NAME, 'SKILL.md'));
    installSkill(planSkillInstall(SOURCE, root, 's'), { replace: true });
    expect(readFileSync(join(outside, 'victim.md'), 'utf8')).toBe('theirs');
    expect(planSkillInstall(SOURCE, root, 's').same).toEqual(ALL);
  });

  it.skipIf(process.platform === 'win32')(
    'does follow one that stays inside, and one that leads to the workspace itself',
    () => {
      const root = workspace({ 'agents/skills/x': '' });
      symlinkSync('agents', join(root, '.agents'));
      const link = join(workspace(), 'link');
      symlinkSync(root, link);
      installSkill(planSkillInstall(SOURCE, link, '.agents/skills'), { replace: false });
      expect(existsSync(join(root, 'agents/skills', SKILL_NAME, 'SKILL.md'))).toBe(true);
    },
  );

  it('names an obstacle in one sentence', () => {
    const root = workspace({ s: 'a file', [`d/${SKILL_NAME}/SKILL.md/x`]: '' });
    expect(() => installSkill(planSkillInstall(SOURCE, root, 's'), { replace: false })).toThrow(
      /cannot be (read|written) \(ENOTDIR\)\.$/,
    );
    expect(() => planSkillInstall(SOURCE, root, 'd')).toThrow(/SKILL\.md cannot be read \(EISDIR\)\.$/);
    expect(() => planSkillInstall(root, root, 's')).toThrow(/^The skill is missing in .*: reinstall Waygate\.$/);
  });
});
