import { isRecord } from '../../lib/isRecord.ts';
import { approvalQuestion, markdownLine } from '../../text/approvalQuestion.ts';
import type { ApprovalAnswer, ApprovalPort, ApprovalRequest } from './approval.ts';

/** Question by MCP elicitation, which VS Code shows in the chat. Names the server's tool and its arguments. */
export interface ElicitedQuestion {
  message: string;
  requestedSchema: { type: 'object'; properties: Record<string, object>; required?: string[] };
}

export interface ElicitedAnswer {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, unknown> | undefined;
}

const CHOICES: readonly { value: ApprovalAnswer; label: string }[] = [
  { value: 'once', label: 'Only this once' },
  { value: 'session', label: 'For this session' },
  { value: 'workspace', label: 'Always in this workspace' },
  { value: 'denied', label: 'Do not run it' },
];

/** Returns a port that asks through the client. `ask` is absent if the client cannot show a form. */
export function elicitApproval(
  ask: (((question: ElicitedQuestion) => Promise<ElicitedAnswer>) & { inRounds?: boolean }) | undefined,
  scrub: (text: string) => string,
): ApprovalPort | undefined {
  if (!ask) return undefined;
  return {
    mayNeverAnswer: ask.inRounds === true,
    async ask(request) {
      const { action, content } = await ask(questionFor(request, scrub));
      // A closed dialog neither approves nor bans the tool: this call does not run.
      if (action !== 'accept') return 'denied';
      const chosen = isRecord(content) ? content.remember : undefined;
      // A client may accept without a choice. An unknown choice is no consent.
      return chosen === undefined ? 'once' : (CHOICES.find(({ value }) => value === chosen)?.value ?? 'denied');
    },
  };
}

function questionFor({ tool, args, reason }: ApprovalRequest, scrub: (text: string) => string): ElicitedQuestion {
  const asked = { toolId: tool.id, tool: tool.upstreamName, server: tool.server, reason, args };
  const [question, ...details] = approvalQuestion(asked, scrub).map(markdownLine);
  return {
    // A list, because Markdown joins the lines of a paragraph.
    message: `${question}\n\n${details.map((line) => `- ${line}`).join('\n')}`,
    requestedSchema: {
      type: 'object',
      properties: {
        remember: {
          type: 'string',
          title: 'Allow it',
          enum: CHOICES.map(({ value }) => value),
          enumNames: CHOICES.map(({ label }) => label),
          default: 'once',
        },
      },
    },
  };
}
