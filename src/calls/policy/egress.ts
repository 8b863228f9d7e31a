import type { CallSettings } from '../../config/declaration/callBlocks.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { JsonObject } from '../json.ts';
import type { Approvals } from './approval.ts';
import type { AuthorizedCall } from './authorize.ts';

/** Secret in arguments, safe to show. */
export interface EgressFinding {
  /** JSON pointer into the arguments. */
  pointer: string;
  /** Server that was given the secret. */
  owner: string;
  /** The arguments, masked. */
  shown: JsonObject;
}

type Find = ((server: string, sent: unknown) => EgressFinding | undefined) | undefined;

/** Refuses a call whose arguments contain a secret of another server, or asks the user (G7.16). */
export async function guardEgress(
  mode: CallSettings['trust']['egress'],
  { tool, args, session, signal, approval }: Omit<AuthorizedCall, 'metaTool'>,
  find: Find,
  approvals: Approvals,
): Promise<void> {
  const finding = mode === 'off' ? undefined : find?.(tool.server, args);
  if (!finding) return;
  const { pointer, owner, shown } = finding;
  const place = pointer === '' ? 'The arguments contain' : `The argument ${pointer} contains`;
  const reason = `${place} a secret of the server ${owner}.`;
  if (mode === 'ask') {
    // An approval of the tool does not cover this.
    const asked = { ...tool, fingerprint: `${tool.fingerprint}+${owner}` };
    return approvals.require({ tool: asked, args: shown, reason, session, signal }, approval);
  }
  throw new GatewayError('POLICY_DENIED', `${reason} It was not sent to ${tool.server}. Call again without it.`, {
    path: tool.id,
    details: { trust: 'egress', pointer, owner },
  });
}
