import {
  installSkill,
  planSkillInstall,
  type SkillPlace,
  type SkillPlan,
  skillPlaces,
} from '../../config/state/skillInstall.ts';
import { plural, t } from '../l10n.ts';
import { type NotificationText, notificationText } from '../notificationText.ts';

/** Decisions of the user on the way; undefined cancels. */
export interface SkillPrompts {
  choose(places: readonly SkillPlace[]): Promise<string | undefined>;
  /** Called if some files exist with other content. */
  resolve(plan: SkillPlan): Promise<'replace' | 'keep' | undefined>;
}

export interface SkillOutcome {
  /** Sentence for a message. */
  message: NotificationText;
  target: string;
}

/** *Install MCP Bootstrap Skill* without its windows. Undefined if the user cancels. */
export async function skillFlow(
  source: string,
  workspace: string,
  prompts: SkillPrompts,
): Promise<SkillOutcome | undefined> {
  const folder = await prompts.choose(skillPlaces(workspace));
  if (folder === undefined) return undefined;
  const plan = planSkillInstall(source, workspace, folder);
  const decision = plan.different.length > 0 ? await prompts.resolve(plan) : 'keep';
  if (decision === undefined) return undefined;
  const written = installSkill(plan, { replace: decision === 'replace' });
  const kept = decision === 'keep' ? plan.different.length : 0;
  const sentences = [
    written.length > 0
      ? plural(written.length, t`Wrote 1 file to ${folder}.`, t`Wrote ${written.length} files to ${folder}.`)
      : t`Nothing to write in ${folder}.`,
    ...(kept > 0 ? [plural(kept, t`1 file of yours kept.`, t`${kept} files of yours kept.`)] : []),
  ];
  return { message: notificationText`${sentences.join(' ')}`, target: plan.target };
}
