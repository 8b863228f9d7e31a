import type { CatalogTool } from '../../catalog/types.ts';
import type { ApprovalQuestion } from '../../control/contract.ts';
import { scrubSecrets } from '../../secrets/mask.ts';
import { shortened } from '../../text/porcelain.ts';
import { visibleText } from '../../text/visibleText.ts';

const SHOWN_ARGS_CHARS = 600;

/** What a person is asked about a call, safe to show. */
export function approvalQuestion(tool: CatalogTool, args: object, reason: string): ApprovalQuestion {
  const shown = visibleText(scrubSecrets(JSON.stringify(args)));
  return {
    tool: visibleText(tool.upstreamName),
    toolId: tool.id,
    server: tool.server,
    reason: visibleText(reason),
    args: shortened(shown, SHOWN_ARGS_CHARS),
  };
}
