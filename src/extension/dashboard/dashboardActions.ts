import * as vscode from 'vscode';
import type { GatewaySnapshot } from '../../control/contract.ts';
import type { DashboardAction, FromDashboard } from '../../control/dashboardMessages.ts';
import { inLines } from '../../text/porcelain.ts';
import type { GatewayView } from '../status/health.ts';
import { toRange } from '../tree/toolsTree.ts';
import { ACTION_COMMANDS } from './actionCommands.ts';

/**
 * Runs the command of a button on the gateway of a folder. The page sends a name and the snapshot supplies the rest, so
 * that the page can open and change nothing else. A button whose server is gone does nothing.
 */
export async function dashboardAction(
  { action, subject }: FromDashboard & { type: 'action' },
  { link }: GatewayView,
  folder: string,
): Promise<void> {
  const snapshot = link.kind === 'attached' ? link.snapshot : undefined;
  if (action === 'manageTrust') {
    await vscode.commands.executeCommand('workbench.trust.manage');
  } else if (action === 'openProblem') {
    if (snapshot) await openProblem(snapshot, Number(subject));
  } else {
    const argument = subject === undefined ? {} : argumentOf(action, subject, snapshot);
    if (argument) await vscode.commands.executeCommand(ACTION_COMMANDS[action], { folder, ...argument });
  }
}

function argumentOf(
  action: DashboardAction,
  subject: string,
  snapshot: GatewaySnapshot | undefined,
): object | undefined {
  if (action === 'openTool') return { toolId: subject };
  if (action === 'answerQuestion') return { call: Number(subject) };
  const server = snapshot?.servers.find(({ name }) => inLines(name) === subject);
  return server && { kind: 'server', server };
}

async function openProblem({ configuration, workspace }: GatewaySnapshot, index: number): Promise<void> {
  const location = configuration.problems[index]?.location;
  if (location === undefined) return;
  const { uri, range } = toRange(location, workspace);
  await vscode.window.showTextDocument(uri, { selection: range });
}
