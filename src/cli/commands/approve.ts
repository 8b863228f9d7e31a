import { ConfigLayers, type MergedConfig } from '../../config/configLayers.ts';
import { stateRoot } from '../../config/state/stateFolder.ts';
import { type GatewayTarget, gatewayFolder } from '../../host/attach/startWorker.ts';
import { didYouMean } from '../../text/nearest.ts';
import { count, inLines } from '../../text/porcelain.ts';
import { LaunchApprovals, needsApproval } from '../../trust/approvals.ts';
import { type Launch, quoted, SHORT_HASH_CHARS, shown, shownLines } from '../../trust/launch.ts';
import { launchEvent, type TrustEvent } from '../../trust/trustLog.ts';
import { missingWalls } from '../../walls/machine.ts';
import { approvalFile } from '../../worker/gateway/approvalFile.ts';
import type { ApproveCommand } from '../commands.ts';
import { errorsOf, print, printNext, problemLine } from '../print.ts';
import { ownTrustLog } from '../runtime.ts';
import { ownTerminal, type Terminal } from '../terminal.ts';
import { UNREADABLE, UsageError } from '../usageError.ts';

/** Server as the command shows it. */
interface Shown {
  launch: Launch;
  state: 'approved' | 'changed' | 'not approved' | 'needs no approval';
  lines: readonly string[];
}

/** Shows what each server would run or reach, and approves what the user has seen. A running gateway notices it. */
export async function approve(command: ApproveCommand, terminal: Terminal = ownTerminal()): Promise<number> {
  const { workspace, all, names, json } = command;
  const approvals = new LaunchApprovals({
    stateRoot: stateRoot(),
    workspace,
    path: () => process.env.PATH,
    missingWalls,
  });
  const { file, flaw } = approvals;
  if (flaw !== undefined) terminal.err(problemLine(`${file} cannot be read (${flaw}), so no approval counts.`));
  const config = configOf(command);
  const problems = errorsOf(config);
  for (const problem of problems) terminal.err(problemLine(problem));
  const servers = shownServers(config, approvals);
  if (command.revoke) return revoke(command, config, servers, approvals);
  const chosen = all ? servers : names.map((name) => serverCalled(name, servers, config));
  const isChoice = chosen.length > 0;
  const listed = isChoice ? chosen : servers;
  const entries = listed.map(({ launch: { name, hash }, state, lines }) => ({ name, state, hash, lines }));
  if (!isChoice) {
    const tools = [...new Set(toolsOf(command).load().map(toolIdOf))];
    const none = listed.length === 0 ? `No server is configured in ${filesOf(config)}.\n` : '';
    print(json, { workspace, servers: entries, tools }, `${listed.map(textOf).join('')}${allowedTools(tools)}${none}`);
    if (problems.length > 0) return UNREADABLE;
    printNext(json, listed.length === 0 ? EMPTY : stepAfter(listed));
    return 0;
  }
  const outcome = await settle(command, chosen, approvals, json ? { ...terminal, out: () => undefined } : terminal);
  const data = { workspace, servers: entries, approved: outcome.approved };
  print(json, data, `Approved ${count(outcome.approved.length, 'server')} for ${workspace}.\n`);
  if (!outcome.refused) printNext(json, stepAfter(shownServers(config, approvals)));
  return outcome.refused ? 1 : 0;
}

const EMPTY = 'waygate import copies the servers of your other MCP clients; or add some to that file.';

function stepAfter(servers: readonly Shown[]): string {
  return servers.some(isWaiting)
    ? 'read the lines of a server, then waygate approve NAME.'
    : 'waygate client-config CLIENT --write adds Waygate to a client; waygate browse / shows the tools.';
}

const isWaiting = ({ state }: Shown): boolean => state === 'changed' || state === 'not approved';

/** Shows the chosen servers one by one and approves each that the user confirms. */
async function settle(
  command: ApproveCommand,
  chosen: readonly Shown[],
  approvals: LaunchApprovals,
  { out, err, interactive, confirm }: Terminal,
): Promise<{ approved: string[]; refused: boolean }> {
  const approved: string[] = [];
  let refused = false;
  const refuse = (sentence: string): void => {
    refused = true;
    err(problemLine(sentence));
  };
  const isConfirmed = ({ name, hash }: Launch): boolean | Promise<boolean> => {
    if (interactive && !command.json) return confirm(`Approve ${quoted(name)}?`, false);
    const next = `waygate approve ${shown(name)} --hash ${hash.slice(0, SHORT_HASH_CHARS)}`;
    refuse(`${quoted(name)} was not approved, because nobody can be asked here. After reading its lines, run: ${next}`);
    return false;
  };
  for (const server of chosen) {
    const { launch, state } = server;
    out(textOf(server));
    if (state === 'approved' || state === 'needs no approval') continue;
    if (command.hash !== undefined ? launch.hash.startsWith(command.hash) : await isConfirmed(launch)) {
      // The file may have changed while the user was reading.
      const now = shownServers(configOf(command), approvals).find((one) => one.launch.hash === launch.hash);
      if (now) {
        approvals.approve([now.launch]);
        record(command, launchEvent('person-cli', now.launch, server.lines), err);
        approved.push(launch.name);
        continue;
      }
    } else if (command.hash === undefined) {
      refused = true;
      continue;
    }
    refuse(`${quoted(launch.name)} has changed since it was shown and was not approved.`);
  }
  return { approved, refused };
}

/** Records a decision. A log that cannot be written is reported and refuses nothing. */
function record(target: ApproveCommand, event: TrustEvent, err: Terminal['err']): void {
  try {
    ownTrustLog(target).add(event);
  } catch (error) {
    err(problemLine(`the trust log could not be written: ${(error as Error).message}`));
  }
}

function configOf({ workspace, configFile }: ApproveCommand): MergedConfig {
  return new ConfigLayers(workspace, process.env, configFile).load();
}

function shownServers({ servers }: MergedConfig, approvals: LaunchApprovals): Shown[] {
  return servers
    .filter(({ disabled }) => !disabled)
    .map((server) => {
      const launch = approvals.launch(server);
      if (!needsApproval(server)) return { launch, state: 'needs no approval', lines: launch.lines };
      if (approvals.isApproved(server)) return { launch, state: 'approved', lines: launch.lines };
      const before = approvals.before(launch);
      return { launch, state: before ? 'changed' : 'not approved', lines: shownLines(launch, before) };
    });
}

function textOf(server: Shown): string {
  const {
    launch: { name, hash },
    state,
    lines,
  } = server;
  const note = isWaiting(server) ? `${state}, hash ${hash.slice(0, SHORT_HASH_CHARS)}` : state;
  return `${quoted(name)} (${note})\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

/** Revokes approvals: servers by name, tools by id. */
function revoke(
  command: ApproveCommand,
  config: MergedConfig,
  servers: readonly Shown[],
  approvals: LaunchApprovals,
): number {
  const { workspace, all, names, json } = command;
  const tools = toolsOf(command);
  const allowed = tools.load();
  const known = [...servers.map(({ launch }) => launch.name), ...allowed.map(toolIdOf)];
  for (const name of names) if (!known.includes(name)) throw unknown(name, known, config);
  const taken = approvals.revoke(all ? undefined : names);
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
  const found = servers.find((server) => server.launch.name === name);
  if (found) return found;
  throw unknown(
    name,
    servers.map(({ launch }) => launch.name),
    config,
  );
}

function unknown(name: string, known: readonly string[], config: MergedConfig): UsageError {
  const remedy = didYouMean(name, known, `it has ${known.map(shown).join(', ') || 'none'}.`);
  const isBroken = errorsOf(config).length > 0;
  return new UsageError(`${filesOf(config)} configures no server "${name}"; ${remedy}`, isBroken ? UNREADABLE : 1);
}

function filesOf({ file, files }: MergedConfig): string {
  const there = files.filter(({ exists }) => exists).map((one) => one.file);
  return there.join(' and ') || file;
}
