import type { GatewaySnapshot } from '../../control/contract.ts';
import { count, oneLine } from '../plainText.ts';

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

/** Words that approve what stands above them. */
export interface ApprovalOffer {
  /** Counted from 0: the editor shows the words above it. */
  line: number;
  title: string;
  names: readonly string[];
}

export interface ApprovalDocument {
  text: string;
  offers: readonly ApprovalOffer[];
}

/** All of it: what is cut, nobody has approved. An offer stands below what it is about, so that it is read first. */
export function approvalDocument(pending: readonly PendingApproval[]): ApprovalDocument {
  const text = [
    'The configuration of this workspace asks Waygate to run or reach the following. Nothing of it starts before you',
    'approve it, below each server or by the check mark above this editor; if any of it changes, you are asked again.',
    '',
  ];
  const offers: ApprovalOffer[] = [];
  const offer = (title: string, names: readonly string[]): void => {
    offers.push({ line: text.length, title, names });
    text.push('');
  };
  for (const { name, lines } of pending) {
    text.push(JSON.stringify(name), ...lines.map((line) => `  ${line}`));
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
