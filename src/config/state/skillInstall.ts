import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { makeFolder } from '../../lib/makeFolder.ts';
import { isWithin, MAX_CONFIG_BYTES, readBounded, readFailure } from '../../lib/readBounded.ts';
import { writeWhole } from '../../lib/writeWhole.ts';

/**
 * Parts are copied sources that users do not edit. Mixed versions would not compile, so an update replaces them without
 * a question.
 */
const isPart = (file: string): boolean => file.startsWith('parts/');

/** Skill that this repository owns (O12.1). The folder of an installed copy has the same name. */
export const SKILL_NAME = 'mcp-bootstrap';

/** Folders in which agents look for a workspace's skills. The first is the default. */
const SKILL_FOLDERS = [
  { folder: '.github/skills', readBy: 'GitHub Copilot' },
  { folder: '.claude/skills', readBy: 'Claude Code, and Copilot too' },
  { folder: '.agents/skills', readBy: 'Codex and others, and Copilot too' },
  { folder: '.codex/skills', readBy: 'Codex, older releases' },
  { folder: '.cursor/skills', readBy: 'Cursor' },
] as const;

export interface SkillPlace {
  /** Path in the workspace, with slashes. */
  folder: string;
  readBy: string;
  /** `skills`: the folder exists; `agent`: only its parent does. */
  there: 'skills' | 'agent' | 'no';
}

/** Returns the possible places of the skill, folders that exist first. */
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

/** Effect of an installation, file by file. Paths are relative to the skill, with slashes. */
export interface SkillPlan {
  source: string;
  /** Path that ends in `mcp-bootstrap`. */
  target: string;
  missing: readonly string[];
  same: readonly string[];
  /** Parts of another version. */
  outdated: readonly string[];
  /** Files with other content: an earlier version, or the user's own work. Only the user can decide. */
  different: readonly string[];
}

/**
 * Compares the skill with the files at its place. `root` is the folder that the user named. Nothing outside it is
 * written, since a repository may contain a link in place of a folder.
 */
export function planSkillInstall(source: string, root: string, folder: string): SkillPlan {
  const target = join(root, folder, SKILL_NAME);
  const files = filesIn(source);
  if (!files.includes('SKILL.md')) throw new Error(`The skill is missing in ${source}: reinstall Waygate.`);
  for (const file of files) refuseLinksOut(root, join(target, file));
  const states = files.map((file) => [file, stateOf(join(source, file), join(target, file))] as const);
  const inState = (state: FileState): string[] => states.filter(([, one]) => one === state).map(([file]) => file);
  const different = inState('different');
  return {
    source,
    target,
    missing: inState('missing'),
    same: inState('same'),
    outdated: different.filter(isPart),
    different: different.filter((file) => !isPart(file)),
  };
}

/** Returns the paths of all files with slashes; none if the folder is absent. */
function filesIn(source: string): string[] {
  if (!isFolder(source)) return [];
  const entries = readdirSync(source, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map((entry) => relative(source, join(entry.parentPath, entry.name)).replaceAll(sep, '/')).sort();
}

/** Writes missing and outdated files, and different ones with `replace`. Returns the written files. */
export function installSkill(plan: SkillPlan, { replace }: { replace: boolean }): string[] {
  const files = [...plan.missing, ...plan.outdated, ...(replace ? plan.different : [])].sort();
  for (const file of files) writeText(join(plan.target, file), readFileSync(join(plan.source, file)));
  return files;
}

type FileState = 'missing' | 'same' | 'different';

function stateOf(source: string, target: string): FileState {
  let there: Buffer;
  try {
    there = readBounded(target, { maxBytes: MAX_CONFIG_BYTES });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'missing';
    throw new Error(`${target} cannot be read (${readFailure(error)}).`);
  }
  // A checkout may have changed the line endings, which is no edit by the user.
  const text = (bytes: Buffer): string => bytes.toString('utf8').replaceAll('\r\n', '\n');
  return text(there) === text(readFileSync(source)) ? 'same' : 'different';
}

/** Throws if a linked folder leads out of `root`. Links to files are safe: the write replaces them. */
function refuseLinksOut(root: string, file: string): void {
  let folder = dirname(file);
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  if (!isWithin(root, folder) || isWithin(realpathSync(root), realpathSync(folder))) return;
  throw new Error(`${folder} leads out of ${root}: the skill is not written there.`);
}

function writeText(file: string, content: Buffer): void {
  const folder = dirname(file);
  try {
    makeFolder(folder);
  } catch (error) {
    const { code, path = folder } = error as NodeJS.ErrnoException;
    throw new Error(`The folder ${path} cannot be created (${code}).`);
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
