import { ConfigLayers, type MergedConfig } from '../../config/configLayers.ts';
import type { ServerConfig } from '../../config/gatewayConfig.ts';
import { approvable, approvalsOf, needsApproval } from '../../config/state/approvals.ts';
import { stateRoot } from '../../config/state/stateFolder.ts';
import type { WouldRun } from '../../control/contract.ts';
import { type GatewayTarget, gatewayFolder } from '../../host/attach/startWorker.ts';
import { didYouMean } from '../../text/nearest.ts';
import { count } from '../../text/porcelain.ts';
import { approvalFile } from '../../worker/gateway/approvalFile.ts';
import { askRunning } from '../askRunning.ts';
import type { ApproveCommand } from '../commands.ts';
import { print } from '../print.ts';

/** Command of a server, and the hash by which it is approved. */
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
  const { workspace, all, names, json } = command;
  const approvals = approvalsOf(stateRoot());
  const isApproved = ({ hash }: Shown): boolean => approvals.isApprovedHash(workspace, hash);
  const chosen = all ? servers : names.map((name) => serverCalled(name, servers, config));
  const listed = chosen.length > 0 ? chosen : servers;
  const open = chosen.length > 0 ? 'new' : 'not approved';
  const told = listed.map((server) => ({
    name: server.name,
    state: server.needed ? (isApproved(server) ? 'approved' : open) : 'needs no approval',
    lines: server.lines,
  }));
  const shown = told.flatMap(({ name, state, lines }) => [
    `${JSON.stringify(name)} (${state})\n`,
    ...lines.map((line) => `  ${line}\n`),
  ]);
  if (chosen.length === 0) {
    const tools = [...new Set(toolsOf(command).load().map(toolIdOf))];
    const next =
      listed.length === 0
        ? `No server is configured in ${filesOf(config)}.\n`
        : 'Approve them by name, or all of them: waygate approve --all\n';
    print(json, { workspace, servers: told, tools }, `${shown.join('')}${allowedTools(tools)}${next}`);
    return 0;
  }
  const needed = chosen.filter((server) => server.needed);
  approvals.approve(
    workspace,
    needed.map(({ hash }) => hash),
  );
  const text = `Approved ${count(needed.length, 'server')} for ${workspace}.\n`;
  const data = { workspace, servers: told, approved: needed.map(({ name }) => name) };
  print(json, data, `${shown.join('')}${text}`);
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
  const servers = await askRunning(target, (control) => control.request('wouldRun', {})).catch(() => undefined);
  return new Map((servers ?? []).map((server) => [server.name, server]));
}

/** Servers by name, tools by id; what ran without a person's word no longer does. */
function revoke(command: ApproveCommand, config: MergedConfig, servers: readonly Shown[]): number {
  const { workspace, all, names, json } = command;
  const tools = toolsOf(command);
  const allowed = tools.load();
  const known = [...servers.map(({ name }) => name), ...allowed.map(toolIdOf)];
  for (const name of names) if (!known.includes(name)) throw unknown(name, known, config);
  const hashes = servers.filter(({ name }) => names.includes(name)).map(({ hash }) => hash);
  const taken = approvalsOf(stateRoot()).revoke(workspace, all ? undefined : hashes);
  const kept = all ? [] : allowed.filter((key) => !names.includes(toolIdOf(key)));
  if (kept.length < allowed.length) tools.save(kept);
  const takenOfTools = allowed.length - kept.length;
  const text = `Took back ${count(taken, 'approval')} of servers and ${takenOfTools} of tools for ${workspace}.\n`;
  print(json, { workspace, revoked: { servers: taken, tools: takenOfTools } }, text);
  return 0;
}

function toolsOf(target: GatewayTarget): ReturnType<typeof approvalFile> {
  return approvalFile(gatewayFolder(target), (line) => {
    throw new Error(`${line}.`);
  });
}

/** `tool_id server fingerprint`: the id has no blank in it. */
function toolIdOf(key: string): string {
  return key.split(' ')[0] as string;
}

function allowedTools(ids: readonly string[]): string {
  if (ids.length === 0) return '';
  const lines = ids.map((id) => `  ${id}\n`).join('');
  return `Tools that run without being asked about:\n${lines}Take that back by name: waygate approve --revoke TOOL_ID\n`;
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
  const remedy = didYouMean(name, known, `it has ${known.join(', ') || 'none'}.`);
  return new Error(`${filesOf(config)} has no server "${name}"; ${remedy}`);
}

function filesOf({ file, files }: MergedConfig): string {
  const there = files.filter(({ exists }) => exists).map((one) => one.file);
  return there.join(' and ') || file;
}
