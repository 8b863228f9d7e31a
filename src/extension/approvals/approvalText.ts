import type { GatewaySnapshot } from '../../control/contract.ts';
import { quoted } from '../../text/porcelain.ts';
import { t } from '../l10n.ts';

export interface PendingApproval {
  name: string;
  hash: string;
  lines: readonly string[];
  /** Launch that was approved before, and the launch of now. */
  change?: { before: readonly string[]; now: readonly string[] };
}

export function pendingApprovals({ servers }: GatewaySnapshot): PendingApproval[] {
  return servers.flatMap(({ name, state, approval }) =>
    state === 'needs_approval' && approval ? [{ name, ...approval }] : [],
  );
}

/** Button of the document: approves servers, or compares the launch of a server with the approved one. */
export interface ApprovalOffer {
  action: 'approve' | 'compare';
  /** Zero-based. The editor shows the button above this line. */
  line: number;
  title: string;
  names: readonly string[];
}

export interface ApprovalDocument {
  text: string;
  offers: readonly ApprovalOffer[];
}

/** Number of servers above which a button for all stands at the top too. */
const FEW = 3;

/**
 * Renders the full commands, because a shortened one could hide something. The button of a server stands below the
 * commands that it approves, so that the user reads them first. Names are quoted: a server may be called `everything`.
 */
export function approvalDocument(pending: readonly PendingApproval[]): ApprovalDocument {
  const text = [
    // The editor wraps it, however wide it is.
    t`The configuration of this workspace makes Waygate run or reach the following. Nothing starts until you approve it, below each server or with the check mark above this editor. After any change you are asked again.`,
    '',
  ];
  const offers: ApprovalOffer[] = [];
  const offer = (action: ApprovalOffer['action'], title: string, names: readonly string[]): void => {
    offers.push({ action, line: text.length, title, names });
  };
  const offerAll = (): void => {
    offer(
      'approve',
      t`Approve all ${pending.length} servers`,
      pending.map(({ name }) => name),
    );
    text.push('');
  };
  if (pending.length > FEW) offerAll();
  for (const { name, lines, change } of pending) {
    text.push(quoted(name), ...lines.map((line) => `  ${line}`));
    offer('approve', t`Approve ${quoted(name, 60)}`, [name]);
    if (change) offer('compare', t`Show what changed`, [name]);
    text.push('');
  }
  if (pending.length > 1) offerAll();
  return { text: text.join('\n'), offers };
}
