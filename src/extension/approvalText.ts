import type { GatewaySnapshot } from '../control/contract.ts';

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

/** All of it: what is cut, nobody has approved. */
export function approvalText(pending: readonly PendingApproval[]): string {
  const servers = pending.map(({ name, lines }) =>
    [JSON.stringify(name), ...lines.map((line) => `  ${line}`)].join('\n'),
  );
  return [
    'The configuration of this workspace asks Waygate to run or reach the following.',
    'Nothing of it starts before you approve it; if any of it changes, you are asked again.',
    '',
    ...servers.flatMap((server) => [server, '']),
  ].join('\n');
}
