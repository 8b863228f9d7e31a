import { join } from 'node:path';
import { installSkill, planSkillInstall, SKILL_NAME, skillPlaces } from '../../config/state/skillInstall.ts';
import type { SkillCommand } from '../commands.ts';
import { print, printNext, printProblem } from '../print.ts';

const EXIT_KEPT = 1;

/** Copies Waygate's skill into a folder of skills. Files with other content are replaced only with `--replace`. */
export function skill({ workspace, into, replace, json }: SkillCommand): number {
  const source = join(__dirname, 'skills', SKILL_NAME);
  const [place] = skillPlaces(workspace);
  const plan =
    into === undefined && place !== undefined
      ? planSkillInstall(source, workspace, place.folder)
      : planSkillInstall(source, into ?? workspace, '');
  const written = installSkill(plan, { replace });
  const { same: unchanged, target } = plan;
  const kept = replace ? [] : plan.different;
  const lines = (state: string, files: readonly string[]): string =>
    files.map((file) => `${state} ${join(target, file)}\n`).join('');
  const text = `${lines('wrote    ', written)}${lines('unchanged', unchanged)}${lines('kept     ', kept)}`;
  print(json, { folder: target, written, unchanged, kept }, text);
  if (kept.length === 0) {
    printNext(json, 'ask your agent in this folder to build an MCP server.');
    return 0;
  }
  printProblem('the kept files differ from this version; add --replace to overwrite them.');
  return EXIT_KEPT;
}
