import * as vscode from 'vscode';
import type { ApprovalQuestion, ApprovalVerdict } from '../../control/contract.ts';

const CHOICES: readonly [label: string, verdict: ApprovalVerdict][] = [
  ['Allow Once', 'once'],
  ['Allow for This Session', 'session'],
  ['Always Allow Here', 'workspace'],
  ['Deny', 'denied'],
];

/**
 * Asks the user whether a tool may run, for clients that cannot ask themselves. Names the server's tool, not the
 * gateway's own: "may tool_execute run" would be a question about everything.
 */
export async function askApproval({ tool, server, reason, args }: ApprovalQuestion): Promise<ApprovalVerdict> {
  const message = `Allow the tool ${tool} of the server ${server} to run? ${reason} Arguments: ${args}`;
  const chosen = await vscode.window.showWarningMessage(message, ...CHOICES.map(([label]) => label));
  // Closing the message denies the call.
  return CHOICES.find(([label]) => label === chosen)?.[1] ?? 'denied';
}
