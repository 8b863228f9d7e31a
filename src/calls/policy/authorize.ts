import type { CatalogTool } from '../../catalog/types.ts';
import type { PolicyMetaTool } from '../../config/declaration/policyBlock.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { ApprovalPort, Approvals, Asked } from './approval.ts';
import type { PolicyDecision } from './policy.ts';

export interface AuthorizedCall {
  tool: CatalogTool;
  metaTool: PolicyMetaTool;
  args: Readonly<Record<string, unknown>>;
  session: object;
  signal: AbortSignal;
  /** Asks the user through the calling client. */
  approval?: ApprovalPort | undefined;
  trace?: Asked | undefined;
}

/** Returns if the user's rules allow the call. Asks the user if a rule says so. */
export async function authorize(decision: PolicyDecision, call: AuthorizedCall, approvals: Approvals): Promise<void> {
  if (decision.action === 'allow') return;
  if (decision.action === 'deny') throw denied(decision, call);
  const { tool, args, session, signal, approval, trace } = call;
  const reason = decision.reason ?? 'A rule of the configuration asks for approval.';
  await approvals.require({ tool, args, reason, session, signal, trace }, approval);
}

function denied(
  { reason, rule_index: rule, unreadable }: PolicyDecision,
  { tool, metaTool }: AuthorizedCall,
): GatewayError {
  if (unreadable !== undefined) {
    const message = `No call of ${tool.name} is allowed, because "policy" cannot be read: ${unreadable} Ask the user to correct it.`;
    return new GatewayError('POLICY_DENIED', message, {
      path: tool.id,
      details: { meta_tool: metaTool, reason: unreadable },
    });
  }
  const by = rule === null ? 'the default of "policy"' : `rule ${rule + 1} of "policy"`;
  return new GatewayError(
    'POLICY_DENIED',
    `The user's configuration does not allow ${tool.name} (${by}${reason === undefined ? '' : `: ${reason}`}). Do without it, or ask the user.`,
    { path: tool.id, details: { meta_tool: metaTool, reason: reason ?? by } },
  );
}
