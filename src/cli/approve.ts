import { approvable, approvalsOf } from '../config/approvals.ts';
import type { ServerConfig } from '../config/gatewayConfig.ts';
import { loadConfig } from '../config/loadConfig.ts';
import { stateRoot } from '../config/stateFolder.ts';
import { nearest } from '../ops/nearest.ts';
import { count } from '../ops/porcelain.ts';

export interface ApproveCommand {
  workspace: string;
  all: boolean;
  names: readonly string[];
}

/** Shows what the workspace's servers would run, whole, and approves those that are named. A running gateway sees it. */
export function approve({ workspace, all, names }: ApproveCommand): number {
  const { servers, file } = loadConfig(workspace, process.env);
  const enabled = servers.filter(({ disabled }) => !disabled);
  const approvals = approvalsOf(stateRoot());
  const chosen = all ? enabled : names.map((name) => serverCalled(name, enabled, file));
  const listed = chosen.length > 0 ? chosen : enabled;
  for (const server of listed) {
    const state = approvals.isApproved(workspace, server) ? 'approved' : chosen.length > 0 ? 'new' : 'not approved';
    process.stdout.write(`${JSON.stringify(server.name)} (${state})\n`);
    for (const line of approvable(server).lines) process.stdout.write(`  ${line}\n`);
  }
  if (listed.length === 0) process.stdout.write(`No server is configured in ${file}.\n`);
  else if (chosen.length === 0) process.stdout.write('Approve them by name, or all of them: waygate approve --all\n');
  else {
    approvals.approve(
      workspace,
      chosen.map((server) => approvable(server).hash),
    );
    process.stdout.write(`Approved ${count(chosen.length, 'server')} for ${workspace}.\n`);
  }
  return 0;
}

function serverCalled(name: string, servers: readonly ServerConfig[], file: string): ServerConfig {
  const found = servers.find((server) => server.name === name);
  if (found) return found;
  const known = servers.map((server) => server.name);
  const hint = nearest(name, known);
  throw new Error(
    `${file} has no server "${name}"; ${hint ? `did you mean "${hint}"?` : `it has ${known.join(', ') || 'none'}.`}`,
  );
}
