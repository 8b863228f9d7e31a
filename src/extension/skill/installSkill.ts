import { join } from 'node:path';
import * as vscode from 'vscode';
import { SKILL_NAME, type SkillPlace } from '../../config/state/skillInstall.ts';
import { t } from '../l10n.ts';
import { notificationText } from '../notificationText.ts';
import { commandTitle } from '../plainText.ts';
import { type Choice, notify, pick } from '../windows.ts';
import { type SkillPrompts, skillFlow } from './skillFlow.ts';

/** Copies the skill into the workspace, where the user's agent looks for skills. */
export async function installSkillInto(workspace: string | undefined, source: string): Promise<void> {
  if (workspace === undefined) throw new Error(t`Open a folder on this machine first`);
  const outcome = await skillFlow(source, workspace, prompts);
  if (outcome === undefined) return;
  const file = vscode.Uri.file(join(outcome.target, 'SKILL.md'));
  void notify('info', outcome.message, {
    title: notificationText`Open Skill`,
    run: () => vscode.window.showTextDocument(file),
  });
}

const prompts: SkillPrompts = {
  async choose(places) {
    const choice = await pick(places.map(choiceOf), {
      title: notificationText`${commandTitle('waygate.installSkill')}`,
      placeHolder: notificationText`Which folder does your agent read skills from?`,
    });
    return choice?.folder;
  },
  async resolve({ different }) {
    const keep = {
      label: notificationText`Keep Mine`,
      detail: notificationText`Writes only the missing files.`,
      answer: 'keep' as const,
    };
    const replace = {
      label: notificationText`Replace`,
      detail: notificationText`Your changes in ${different.join(', ')} are lost.`,
      answer: 'replace' as const,
    };
    const choice = await pick([keep, replace], {
      title: notificationText`Another version of ${SKILL_NAME} is already installed`,
      ignoreFocusOut: true,
    });
    return choice?.answer;
  },
};

function choiceOf({ folder, readBy, there }: SkillPlace): Choice & { folder: string } {
  const choice = { label: notificationText`${folder}`, description: notificationText`${readBy}`, folder };
  if (there === 'no') return choice;
  const detail =
    there === 'skills' ? notificationText`This folder has skills.` : notificationText`Its parent folder exists.`;
  return { ...choice, detail };
}
