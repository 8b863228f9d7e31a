import { join, resolve } from 'node:path';
import { installSkill, planSkillInstall, SKILL_NAME, skillPlaces } from '../config/skillInstall.ts';

export interface SkillCommand {
  workspace: string;
  /** A folder of skills; the workspace's own one unless given. */
  into: string | undefined;
  replace: boolean;
}

const EXIT_KEPT = 1;

/** Puts the skill that comes with Waygate into a folder of skills. What is there with another content is not touched unasked. */
export function skill({ workspace, into, replace }: SkillCommand): number {
  const source = join(__dirname, '..', 'skills', SKILL_NAME);
  const [place] = skillPlaces(workspace);
  const plan =
    into === undefined && place !== undefined
      ? planSkillInstall(source, workspace, place.folder)
      : planSkillInstall(source, resolve(into ?? workspace), '');
  const written = installSkill(plan, { replace });
  const tell = (state: string, file: string): boolean => process.stdout.write(`${state} ${join(plan.target, file)}\n`);
  for (const file of written) tell('wrote    ', file);
  for (const file of plan.same) tell('unchanged', file);
  const kept = replace ? [] : plan.different;
  for (const file of kept) tell('kept     ', file);
  if (kept.length === 0) return 0;
  process.stderr.write(
    'waygate: the kept files differ from those of this version; add --replace to lose what is in them.\n',
  );
  return EXIT_KEPT;
}
