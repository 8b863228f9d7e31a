import { ConfigLayers, type MergedConfig } from '../../config/configLayers.ts';
import type { ServerConfig } from '../../config/gatewayConfig.ts';
import { approvable, approvalsOf, needsApproval } from '../../config/state/approvals.ts';
import { stateRoot } from '../../config/state/stateFolder.ts';
import type { WouldRun } from '../../control/contract.ts';
import { type GatewayTarget, gatewayFolder } from '../../host/attach/startWorker.ts';
import { didYouMean } from '../../text/nearest.ts';
import { count, inLines, quoted } from '../../text/porcelain.ts';
import { approvalFile } from '../../worker/gateway/approvalFile.ts';
import { askRunning } from '../askRunning.ts';
import type { ApproveCommand } from '../commands.ts';
import { print } from '../print.ts';

/** Command of a server, and the hash under which it is approved. */
interface Shown {
  name: string;
  hash: string;
  lines: readonly string[];
  needed: boolean;
}

/** Prints the full command of each server and approves the named servers. A running gateway notices the approval. */
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
  const entries = listed.map((server) => ({
    name: server.name,
    state: server.needed ? (isApproved(server) ? 'approved' : open) : 'needs no approval',
    lines: server.lines,
  }));
  const shown = entries.flatMap(({ name, state, lines }) => [
    `${quoted(name)} (${state})\n`,
    ...lines.map((line) => `  ${line}\n`),
  ]);
  if (chosen.length === 0) {
    const tools = [...new Set(toolsOf(command).load().map(toolIdOf))];
    const next =
      listed.length === 0
        ? `No server is configured in ${filesOf(config)}.\n`
        : 'Approve them by name, or all of them: waygate approve --all\n';
    print(json, { workspace, servers: entries, tools }, `${shown.join('')}${allowedTools(tools)}${next}`);
    return 0;
  }
  const needed = chosen.filter((server) => server.needed);
  approvals.approve(
    workspace,
    needed.map(({ hash }) => hash),
  );
  const text = `Approved ${count(needed.length, 'server')} for ${workspace}.\n`;
  const data = { workspace, servers: entries, approved: needed.map(({ name }) => name) };
  print(json, data, `${shown.join('')}${text}`);
  return 0;
}

/**
 * Returns the servers as a running gateway resolves them, if there is one: it was started with its own environment, and
 * `${env:NAME}` has the value from there.
 */
async function shownServers(target: GatewayTarget, { servers }: MergedConfig): Promise<Shown[]> {
  const running = await commandsOfGateway(target);
  return servers
    .filter(({ disabled }) => !disabled)
    .map((server: ServerConfig) => {
      const { hash, lines } = running.get(server.name) ?? approvable(server);
      return { name: server.name, hash, lines, needed: needsApproval(server) };
    });
}

async function commandsOfGateway(target: GatewayTarget): Promise<Map<string, WouldRun>> {
  // Ignore a gateway that hangs or is older than this program.
  const servers = await askRunning(target, (control) => control.request('wouldRun', {})).catch(() => undefined);
  return new Map((servers ?? []).map((server) => [server.name, server]));
}

/** Revokes approvals: servers by name, tools by id. */
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
  const text = `Revoked ${count(taken, 'approval')} of servers and ${takenOfTools} of tools for ${workspace}.\n`;
  print(json, { workspace, revoked: { servers: taken, tools: takenOfTools } }, text);
  return 0;
}

function toolsOf(target: GatewayTarget): ReturnType<typeof approvalFile> {
  return approvalFile(gatewayFolder(target), (line) => {
    throw new Error(`${line}.`);
  });
}

/** Keys have the form `tool_id server fingerprint`, and an id contains no blank. */
function toolIdOf(key: string): string {
  return key.split(' ')[0] as string;
}

function allowedTools(ids: readonly string[]): string {
  if (ids.length === 0) return '';
  const lines = inLines(ids)
    .map((id) => `  ${id}\n`)
    .join('');
  return `Tools that run without asking:\n${lines}Revoke an approval with: waygate approve --revoke TOOL_ID\n`;
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
  return new Error(`${filesOf(config)} configures no server "${name}"; ${remedy}`);
}

function filesOf({ file, files }: MergedConfig): string {
  const there = files.filter(({ exists }) => exists).map((one) => one.file);
  return there.join(' and ') || file;
}
