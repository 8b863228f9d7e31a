import { parseConfig } from '../../src/config/loadConfig.ts';
import { LaunchApprovals } from '../../src/trust/approvals.ts';

/** Returns the approvals of a workspace as the command line sees them. */
export function approvalsOf(
  workspace: string,
  stateRoot: string,
  missingWalls: () => string | undefined = () => undefined,
): LaunchApprovals {
  return new LaunchApprovals({ stateRoot, workspace, path: () => process.env.PATH, missingWalls });
}

/** Approves the servers in the text of a workspace's configuration, as a user would after reading it. */
export function approveAll(workspace: string, stateRoot: string, file: string, text: string, env = process.env): void {
  const servers = parseConfig(text, file, workspace, env).servers.filter(({ disabled }) => !disabled);
  const approvals = approvalsOf(workspace, stateRoot);
  approvals.approve(servers.map((server) => approvals.launch(server)));
}
