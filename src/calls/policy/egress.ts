import type { CallSettings } from '../../config/declaration/callBlocks.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { JsonObject } from '../json.ts';
import type { ApprovalSubject, Approvals } from './approval.ts';
import type { AuthorizedCall } from './authorize.ts';
import { decideEgress, type PolicyDecision, type PolicyTool } from './policy.ts';

/** Secret in something that is sent to a server, safe to show. */
export interface EgressFinding {
  /** `given` and `masked` are values that Waygate knows; `form` is what looks like a secret. */
  kind: 'given' | 'masked' | 'form';
  /** JSON pointer into what is sent. */
  pointer: string;
  /** Words for the secret: `a secret of the server a`. */
  words: string;
  /** Server that was given the secret, or in whose text it was masked. */
  owner?: string;
  /** Sent parts, masked. */
  shown: JsonObject;
}

/** Finds secrets in what is sent to a server. */
export type FindSecrets = ((server: string, sent: unknown) => readonly EgressFinding[]) | undefined;

/** Secret that a search found, and what the user's rules say about it. */
export interface EgressVerdict {
  finding: EgressFinding;
  /** Part that contains the secret. */
  sent: unknown;
  decision: PolicyDecision;
  /** Reason for the user. */
  reason: string;
  subject: ApprovalSubject;
}

type Settings = Pick<CallSettings, 'trust' | 'policy'>;

/** Returns the parts of a request that the client wrote. */
export function sentParts(args: unknown, meta: Readonly<JsonObject> | undefined): unknown[] {
  const { progressToken: _, ...rest } = meta ?? {};
  return Object.keys(rest).length === 0 ? [args] : [args, { _meta: rest }];
}

/** Judges what is sent to the server of a tool (T5). Returns the secrets that must not be sent without an approval. */
export function judgeEgress(
  { trust: { egress }, policy }: Settings,
  tool: PolicyTool,
  sent: readonly unknown[],
  find: FindSecrets,
): EgressVerdict[] {
  if (egress === 'off' || !find) return [];
  return sent
    .flatMap((part) => find(tool.server, part).map((finding) => ({ finding, sent: part })))
    .flatMap(({ finding, sent }) => {
      const otherwise = egress === 'block' && finding.kind !== 'form' ? 'deny' : 'require_approval';
      const decision = decideEgress(policy, tool, otherwise);
      if (decision.action === 'allow') return [];
      const place = finding.pointer === '' ? 'The arguments contain' : `The argument ${finding.pointer} contains`;
      const because = decision.reason === undefined ? '' : ` ${decision.reason}`;
      const subject = subjectOf(tool, finding);
      return [{ finding, sent, decision, reason: `${place} ${finding.words}.${because}`, subject }];
    });
}

/** Refuses a call that would send a secret to its server, or asks the user about each. Reports what the user allowed. */
export async function guardEgress(
  verdicts: readonly EgressVerdict[],
  { tool, session, signal, approval, trace }: Omit<AuthorizedCall, 'metaTool' | 'args'>,
  approvals: Approvals,
  onAllowed?: (finding: EgressFinding) => void,
): Promise<void> {
  const denied = verdicts.find(({ decision }) => decision.action === 'deny');
  if (denied) throw refusal(denied, tool);
  for (const { finding, sent, reason, subject } of verdicts) {
    if (approvals.isRemembered(subject, session)) continue;
    await approvals.require({ tool, args: finding.shown, sent, reason, subject, session, signal, trace }, approval);
    onAllowed?.(finding);
  }
}

/** Returns the error for a secret that is not sent. */
export function refusal({ finding, reason, subject }: EgressVerdict, tool: PolicyTool): GatewayError {
  const { kind, pointer, owner } = finding;
  return new GatewayError('POLICY_DENIED', `${reason} It was not sent to ${tool.server}. Call again without it.`, {
    path: tool.id,
    details: { trust: 'egress', kind, pointer, ...(owner !== undefined && { owner }), allow: subject.allow },
  });
}

/** An approval is for a kind of secret and a server, whatever its tool: the server learns the secret. */
function subjectOf({ server, origin }: PolicyTool, { kind, owner = '' }: EgressFinding): ApprovalSubject {
  const from = origin === 'workspace' ? { origin } : {};
  const rule = JSON.stringify({ action: 'allow', metaTool: 'egress', server, ...from });
  return {
    key: `egress:${encodeURIComponent(server)} ${origin ?? 'user'} ${kind} ${owner}`,
    allow: `put ${rule} first in "policy": {"rules": [ … ]} of the user's own waygate.json`,
  };
}
