import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { makeFolder } from '../../lib/makeFolder.ts';
import { writeWhole } from '../../lib/writeWhole.ts';

/**
 * Sources that come along to be copied from: nobody works in them, and of two versions mixed none would compile, so they
 * give way unasked.
 */
const isPart = (file: string): boolean => file.startsWith('parts/');

/** Skill that this repository owns (O12.1). The folder of an installed copy has the same name. */
export const SKILL_NAME = 'mcp-bootstrap';

/** Where agents look for the skills of a workspace. The first is the default. */
const SKILL_FOLDERS = [
  { folder: '.github/skills', readBy: 'GitHub Copilot' },
  { folder: '.claude/skills', readBy: 'Claude Code, and Copilot too' },
  { folder: '.agents/skills', readBy: 'Codex and others, and Copilot too' },
  { folder: '.codex/skills', readBy: 'Codex, older releases' },
  { folder: '.cursor/skills', readBy: 'Cursor' },
] as const;

export interface SkillPlace {
  /** In the workspace, with slashes. */
  folder: string;
  readBy: string;
  /** `skills`: it is there; `agent`: the folder around it is. */
  there: 'skills' | 'agent' | 'no';
}

/** Where the skill can go, those places first that are in use already. */
export function skillPlaces(workspace: string): SkillPlace[] {
  const places = SKILL_FOLDERS.map(({ folder, readBy }): SkillPlace => {
    const there = isFolder(join(workspace, folder))
      ? 'skills'
      : isFolder(join(workspace, dirname(folder)))
        ? 'agent'
        : 'no';
    return { folder, readBy, there };
  });
  return (['skills', 'agent', 'no'] as const).flatMap((state) => places.filter(({ there }) => there === state));
}

/** What installing would do, file by file; all paths are in the skill, with slashes. */
export interface SkillPlan {
  source: string;
  /** `…/mcp-bootstrap`. */
  target: string;
  missing: readonly string[];
  same: readonly string[];
  /** Parts of another version. */
  outdated: readonly string[];
  /** There with another content: an earlier version of ours, or somebody's work. Only the person can tell. */
  different: readonly string[];
}

/**
 * Compares the skill with what is at its place. `root` is what the person has named: nothing outside it is written,
 * for a repository may have a link where a folder should be.
 */
export function planSkillInstall(source: string, root: string, folder: string): SkillPlan {
  const target = join(root, folder, SKILL_NAME);
  const files = filesIn(source);
  if (!files.includes('SKILL.md')) throw new Error(`The skill is not in ${source}: install Waygate again.`);
  for (const file of files) refuseLinksOut(root, join(target, file));
  const states = files.map((file) => [file, stateOf(join(source, file), join(target, file))] as const);
  const those = (state: FileState): string[] => states.filter(([, one]) => one === state).map(([file]) => file);
  const different = those('different');
  return {
    source,
    target,
    missing: those('missing'),
    same: those('same'),
    outdated: different.filter(isPart),
    different: different.filter((file) => !isPart(file)),
  };
}

/** By their paths with slashes; none where the folder is not there. */
function filesIn(source: string): string[] {
  if (!isFolder(source)) return [];
  const entries = readdirSync(source, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map((entry) => relative(source, join(entry.parentPath, entry.name)).replaceAll(sep, '/')).sort();
}

/** Writes what is missing or outdated, and what is different if that is wanted. Returns what it has written. */
export function installSkill(plan: SkillPlan, { replace }: { replace: boolean }): string[] {
  const files = [...plan.missing, ...plan.outdated, ...(replace ? plan.different : [])].sort();
  for (const file of files) writeText(join(plan.target, file), readFileSync(join(plan.source, file)));
  return files;
}

type FileState = 'missing' | 'same' | 'different';

function stateOf(source: string, target: string): FileState {
  let there: Buffer;
  try {
    there = readFileSync(target);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return 'missing';
    throw new Error(`${target} cannot be read (${code}).`);
  }
  // A checkout may have turned the ends of its lines around; that is nobody's work.
  const text = (bytes: Buffer): string => bytes.toString('utf8').replaceAll('\r\n', '\n');
  return text(there) === text(readFileSync(source)) ? 'same' : 'different';
}

/** A file that is a link is replaced, not written through; a folder that is one would be. */
function refuseLinksOut(root: string, file: string): void {
  let folder = dirname(file);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  if (!isWithin(root, folder) || isWithin(realpathSync(root), realpathSync(folder))) return;
  throw new Error(`${folder} leads out of ${root}: the skill is not written there.`);
}

function isWithin(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function writeText(file: string, content: Buffer): void {
  const folder = dirname(file);
  try {
    makeFolder(folder);
  } catch (error) {
    const { code, path = folder } = error as NodeJS.ErrnoException;
    throw new Error(`The folder ${path} cannot be made (${code}).`);
  }
  try {
    writeWhole(file, content);
  } catch (error) {
    throw new Error(`${file} cannot be written (${(error as NodeJS.ErrnoException).code}).`);
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
