import { join } from 'node:path';
import * as vscode from 'vscode';
import { SKILL_NAME, type SkillPlace } from '../../config/state/skillInstall.ts';
import { COMMANDS } from '../contributions.ts';
import { type SkillPrompts, skillFlow } from './skillFlow.ts';

/** Copies the skill into the workspace, where the user's agent looks for skills. */
export async function installSkillInto(workspace: string | undefined, source: string): Promise<void> {
  if (workspace === undefined) throw new Error('Open a folder on this machine first');
  const outcome = await skillFlow(source, workspace, prompts);
  if (outcome === undefined) return;
  void offerToRead(outcome.message, join(outcome.target, 'SKILL.md'));
}

async function offerToRead(message: string, file: string): Promise<void> {
  const open = 'Open Skill';
  if ((await vscode.window.showInformationMessage(message, open)) === open) {
    await vscode.window.showTextDocument(vscode.Uri.file(file));
  }
}

const prompts: SkillPrompts = {
  async choose(places) {
    const items = places.map(itemOf);
    const choice = await vscode.window.showQuickPick(items, {
      title: COMMANDS['waygate.installSkill'].title,
      placeHolder: 'Which folder does your agent read skills from?',
    });
    return choice?.label;
  },
  async resolve({ different }) {
    const keep = { label: 'Keep Mine', detail: 'Writes only the missing files.', answer: 'keep' as const };
    const replace = {
      label: 'Replace',
      detail: `Your changes in ${different.join(', ')} are lost.`,
      answer: 'replace' as const,
    };
    const choice = await vscode.window.showQuickPick([keep, replace], {
      title: `Another version of ${SKILL_NAME} is already installed`,
      ignoreFocusOut: true,
    });
    return choice?.answer;
  },
};

function itemOf({ folder, readBy, there }: SkillPlace): vscode.QuickPickItem {
  const item = { label: folder, description: readBy };
  if (there === 'no') return item;
  return { ...item, detail: there === 'skills' ? 'This folder has skills.' : 'Its parent folder exists.' };
}
