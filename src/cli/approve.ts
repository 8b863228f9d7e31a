import { approvable, approvalsOf, needsApproval } from '../config/approvals.ts';
import { ConfigLayers, type MergedConfig } from '../config/configLayers.ts';
import type { ServerConfig } from '../config/gatewayConfig.ts';
import { stateRoot, workspaceStateFolder } from '../config/stateFolder.ts';
import type { WouldRun } from '../control/contract.ts';
import { attachControl, type GatewayTarget } from '../host/attachControl.ts';
import { stateVariant } from '../host/startWorker.ts';
import { nearest } from '../ops/nearest.ts';
import { count } from '../ops/porcelain.ts';
import { approvalFile } from '../worker/approvalFile.ts';
import type { ApproveCommand } from './commandLine.ts';
import { inTime } from './inTime.ts';
import { ownRuntime } from './runtime.ts';

/** What a server would run, and by which hash it is approved. */
interface Shown {
  name: string;
  hash: string;
  lines: readonly string[];
  needed: boolean;
}

/** Shows what the servers would run, whole, and approves those that are named. A running gateway sees it. */
export async function approve(command: ApproveCommand): Promise<number> {
  const config = new ConfigLayers(command.workspace, process.env, command.configFile).load();
  const servers = await shownServers(command, config);
  if (command.revoke) return revoke(command, config, servers);
  const { workspace, all, names } = command;
  const approvals = approvalsOf(stateRoot());
  const isApproved = ({ hash }: Shown): boolean => approvals.isApprovedHash(workspace, hash);
  const chosen = all ? servers : names.map((name) => serverCalled(name, servers, config));
  const listed = chosen.length > 0 ? chosen : servers;
  for (const server of listed) {
    const open = chosen.length > 0 ? 'new' : 'not approved';
    const state = server.needed ? (isApproved(server) ? 'approved' : open) : 'needs no approval';
    process.stdout.write(`${JSON.stringify(server.name)} (${state})\n`);
    for (const line of server.lines) process.stdout.write(`  ${line}\n`);
  }
  if (chosen.length === 0) {
    writeAllowedTools(toolsOf(command).load());
    if (listed.length === 0) process.stdout.write(`No server is configured in ${filesOf(config)}.\n`);
    else process.stdout.write('Approve them by name, or all of them: waygate approve --all\n');
    return 0;
  }
  const needed = chosen.filter((server) => server.needed);
  approvals.approve(
    workspace,
    needed.map(({ hash }) => hash),
  );
  process.stdout.write(`Approved ${count(needed.length, 'server')} for ${workspace}.\n`);
  return 0;
}

/**
 * A gateway that runs has the last word on what a server would run: it was started in an environment of its own, and
 * `${env:NAME}` stands for what it says there.
 */
async function shownServers(target: GatewayTarget, { servers }: MergedConfig): Promise<Shown[]> {
  const running = await toldByGateway(target);
  return servers
    .filter(({ disabled }) => !disabled)
    .map((server: ServerConfig) => {
      const { hash, lines } = running.get(server.name) ?? approvable(server);
      return { name: server.name, hash, lines, needed: needsApproval(server) };
    });
}

async function toldByGateway(target: GatewayTarget): Promise<Map<string, WouldRun>> {
  // One that hangs, or is older than this program, has no say.
  const control = await attachControl(ownRuntime(target), { start: false, holds: false }).catch(() => undefined);
  if (!control) return new Map();
  try {
    const servers = await inTime(control.request('wouldRun', {}), 'the gateway');
    return new Map(servers.map((server) => [server.name, server]));
  } catch {
    return new Map();
  } finally {
    control.dispose();
  }
}

/** Servers by name, tools by id; what ran without a person's word no longer does. */
function revoke(command: ApproveCommand, config: MergedConfig, servers: readonly Shown[]): number {
  const { workspace, all, names } = command;
  const tools = toolsOf(command);
  const allowed = tools.load();
  const known = [...servers.map(({ name }) => name), ...allowed.map(toolIdOf)];
  for (const name of names) if (!known.includes(name)) throw unknown(name, known, config);
  const hashes = servers.filter(({ name }) => names.includes(name)).map(({ hash }) => hash);
  const taken = approvalsOf(stateRoot()).revoke(workspace, all ? undefined : hashes);
  const kept = all ? [] : allowed.filter((key) => !names.includes(toolIdOf(key)));
  if (kept.length < allowed.length) tools.save(kept);
  const what = `${count(taken, 'approval')} of servers and ${allowed.length - kept.length} of tools`;
  process.stdout.write(`Took back ${what} for ${workspace}.\n`);
  return 0;
}

function toolsOf(target: GatewayTarget): ReturnType<typeof approvalFile> {
  const folder = workspaceStateFolder(target.workspace, stateRoot(), stateVariant(target));
  return approvalFile(folder, (line) => {
    throw new Error(`${line}.`);
  });
}

/** `tool_id server fingerprint`: the id has no blank in it. */
function toolIdOf(key: string): string {
  return key.split(' ')[0] as string;
}

function writeAllowedTools(keys: readonly string[]): void {
  if (keys.length === 0) return;
  process.stdout.write('Tools that run without being asked about:\n');
  for (const id of new Set(keys.map(toolIdOf))) process.stdout.write(`  ${id}\n`);
  process.stdout.write('Take that back by name: waygate approve --revoke TOOL_ID\n');
}

function serverCalled(name: string, servers: readonly Shown[], config: MergedConfig): Shown {
  const found = servers.find((server) => server.name === name);
  if (found) return found;
  throw unknown(
    name,
    servers.map((server) => server.name),
    config,
  );
}

function unknown(name: string, known: readonly string[], config: MergedConfig): Error {
  const hint = nearest(name, known);
  const remedy = hint ? `did you mean "${hint}"?` : `it has ${known.join(', ') || 'none'}.`;
  return new Error(`${filesOf(config)} has no server "${name}"; ${remedy}`);
}

function filesOf({ file, files }: MergedConfig): string {
  const there = files.filter(({ exists }) => exists).map((one) => one.file);
  return there.join(' and ') || file;
}
