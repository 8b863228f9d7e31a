import type { ApprovalQuestion, ApprovalVerdict } from '../../control/contract.ts';
import { type NotificationText, notificationLines, notificationText } from '../notificationText.ts';
import { ask } from '../windows.ts';

/** The first answer has the focus of the dialog: a stray key press runs nothing. */
const ANSWERS = [
  { title: notificationText`Do Not Run It`, verdict: 'denied' },
  { title: notificationText`Allow Once`, verdict: 'once' },
  { title: notificationText`Allow for This Session`, verdict: 'session' },
  { title: notificationText`Always Allow Here`, verdict: 'workspace' },
] as const satisfies readonly { title: NotificationText; verdict: ApprovalVerdict }[];

/**
 * Asks the user whether a tool may run, for clients that cannot ask themselves. Names the server's tool, not the
 * gateway's own: "may tool_execute run" would be a question about everything. Names the folder if there are several.
 */
export async function askApproval(
  { lines: [question = '', ...details] }: ApprovalQuestion,
  folder: string | undefined,
): Promise<ApprovalVerdict> {
  const lines = folder === undefined ? details : [`Folder: ${folder}`, ...details];
  const chosen = await ask(notificationText`${question}`, notificationLines(lines), ANSWERS);
  // Closing the dialog denies the call.
  return chosen?.verdict ?? 'denied';
}
