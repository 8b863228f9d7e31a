import { join } from 'node:path';
import * as vscode from 'vscode';
import { SKILL_NAME, type SkillPlace } from '../config/skillInstall.ts';
import { COMMANDS } from './contributions.ts';
import { type SkillPrompts, skillFlow } from './skillFlow.ts';

/** Copies the skill into the workspace, where the person's agent looks for such. */
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
  async resolve({ target, different }) {
    const [replace, keep] = ['Replace', 'Keep Mine'] as const;
    const choice = await vscode.window.showWarningMessage(
      `${SKILL_NAME} is there with other contents.`,
      {
        modal: true,
        detail: `In ${target}, these differ from this version's: ${different.join(', ')}. Replacing them loses what was changed in them.`,
      },
      replace,
      keep,
    );
    return choice === replace ? 'replace' : choice === keep ? 'keep' : undefined;
  },
};

function itemOf({ folder, readBy, there }: SkillPlace): vscode.QuickPickItem {
  const item = { label: folder, description: readBy };
  if (there === 'no') return item;
  return { ...item, detail: there === 'skills' ? 'This folder has skills.' : 'The folder around it is there.' };
}
