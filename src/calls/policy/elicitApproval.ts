import { isRecord } from '../../lib/isRecord.ts';
import { shortened } from '../../text/porcelain.ts';
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
];
const MAX_ARGS_CHARS = 600;

/** Returns a port that asks through the client. `ask` is absent if the client cannot show a form. */
export function elicitApproval(
  ask: ((question: ElicitedQuestion) => Promise<ElicitedAnswer>) | undefined,
  toShow: (text: string) => string,
): ApprovalPort | undefined {
  if (!ask) return undefined;
  return {
    async ask(request) {
      const { action, content } = await ask(questionFor(request, toShow));
      // A closed dialog neither approves nor bans the tool: this call does not run.
      if (action !== 'accept') return 'denied';
      const chosen = isRecord(content) ? content.remember : undefined;
      return CHOICES.find(({ value }) => value === chosen)?.value ?? 'once';
    },
  };
}

function questionFor({ tool, args, reason }: ApprovalRequest, toShow: (text: string) => string): ElicitedQuestion {
  const shown = shortened(JSON.stringify(args), MAX_ARGS_CHARS);
  return {
    message: toShow(
      `Allow the tool ${tool.upstreamName} of the server ${tool.server} to run?\n${reason}\nArguments: ${shown}`,
    ),
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
