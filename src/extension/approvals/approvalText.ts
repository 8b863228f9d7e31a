import type { GatewaySnapshot } from '../../control/contract.ts';
import { oneLine, quoted } from '../../text/porcelain.ts';
import { count } from '../plainText.ts';

export interface PendingApproval {
  name: string;
  hash: string;
  lines: readonly string[];
}

export function pendingApprovals({ servers }: GatewaySnapshot): PendingApproval[] {
  return servers.flatMap(({ name, state, approval }) =>
    state === 'needs_approval' && approval ? [{ name, ...approval }] : [],
  );
}

/** Button that approves the servers above it. */
export interface ApprovalOffer {
  /** Zero-based. The editor shows the button above this line. */
  line: number;
  title: string;
  names: readonly string[];
}

export interface ApprovalDocument {
  text: string;
  offers: readonly ApprovalOffer[];
}

/**
 * Renders the full commands, because a shortened one could hide something. A button stands below the commands that it
 * approves, so that the user reads them first.
 */
export function approvalDocument(pending: readonly PendingApproval[]): ApprovalDocument {
  const text = [
    'The configuration of this workspace makes Waygate run or reach the following. Nothing starts until you approve',
    'it, below each server or with the check mark above this editor. After any change you are asked again.',
    '',
  ];
  const offers: ApprovalOffer[] = [];
  const offer = (title: string, names: readonly string[]): void => {
    offers.push({ line: text.length, title, names });
    text.push('');
  };
  for (const { name, lines } of pending) {
    text.push(quoted(name), ...lines.map((line) => `  ${line}`));
    offer(`Approve ${oneLine(name, 60)}`, [name]);
  }
  if (pending.length > 1) {
    offer(
      `Approve all ${count(pending.length, 'server')}`,
      pending.map(({ name }) => name),
    );
  }
  return { text: text.join('\n'), offers };
}
