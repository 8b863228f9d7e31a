import { ConfigLayers } from '../../config/configLayers.ts';
import type { GatewaySnapshot, ServerStatus } from '../../control/contract.ts';
import type { HealthWithoutWorker } from '../../control/healthContract.ts';
import { serverState } from '../../control/serverStates.ts';
import type { GatewayTarget } from '../../host/attach/attachControl.ts';
import { count, duration, inLines } from '../../text/porcelain.ts';
import { askRunning } from '../askRunning.ts';
import type { Printed } from '../commands.ts';
import { errorsOf, print, printNext, printProblem } from '../print.ts';
import { START_ONE } from '../runtime.ts';
import { exitCodeOf, healthOnDisk, textOnDisk } from '../withoutWorker.ts';

export async function status({ json, ...target }: GatewayTarget & Printed): Promise<number> {
  const snapshot = await askRunning(target, (control) => control.request('status', {}));
  if (!snapshot) {
    const health = healthOnDisk(target);
    print(json, jsonWithoutWorker(health), `${textOnDisk(target, health)}\n`);
    const problems = errorsOf(new ConfigLayers(target.workspace, process.env, target.configFile).load());
    for (const problem of problems) printProblem(problem);
    if (health.condition === 'cold' && problems.length === 0) printNext(json, START_ONE);
    return exitCodeOf(health);
  }
  const { worker, health, ...rest } = snapshot;
  print(json, { ...rest, worker: { ...worker, state: health } }, renderStatus(inLines(snapshot), Date.now()));
  printStepFor(json, snapshot);
  return 0;
}

/** Prints the step that follows while servers wait for the user. */
export function printStepFor(json: boolean, snapshot: GatewaySnapshot): void {
  const step = stepFor(snapshot);
  if (step !== undefined) printNext(json, step);
}

/** Returns the command that helps the most servers which wait for the user. */
function stepFor({ servers, configuration }: GatewaySnapshot): string | undefined {
  if (servers.length === 0) {
    // An error hides servers that are there.
    if (errorsOf(configuration).length > 0) return undefined;
    return 'waygate import copies the servers of your other MCP clients.';
  }
  const inState = (state: ServerStatus['state']) => servers.filter((server) => server.state === state);
  if (inState('needs_approval').length > 0) return 'waygate approve shows the commands that wait for your approval.';
  const [secret] = inState('needs_secret');
  const [signIn] = inState('needs_sign_in');
  const command = secret?.command ?? signIn?.command;
  if (command !== undefined) return command;
  return inState('failed').length > 0 ? 'correct the reason beside the failed server, then waygate reload.' : undefined;
}

/** Keeps the shape without a worker: scripts check `worker` for its presence and `health` for the reason. */
function jsonWithoutWorker(health: HealthWithoutWorker): object {
  const { workspace, problems } = health;
  return { workspace, worker: null, sessions: [], servers: [], ...(problems.length === 0 ? {} : { health }) };
}

export function renderStatus(snapshot: GatewaySnapshot, now: number): string {
  const { worker, servers, sessions, catalog, configuration } = snapshot;
  const lines = [
    `gateway  ${snapshot.health}, pid ${worker.pid}, build ${worker.build}, up ${duration(worker.uptimeMs)}`,
    `catalog  ${count(catalog.toolCount, 'tool')} of ${count(servers.length, 'server')}`,
    ...problemsOf(configuration),
  ];
  const width = Math.max(0, ...servers.map((server) => server.name.length));
  if (servers.length > 0) lines.push('', 'servers');
  for (const server of servers) lines.push(`  ${server.name.padEnd(width)}  ${describeServer(server)}`);
  if (sessions.length > 0) lines.push('', 'sessions');
  for (const { client, clientVersion, protocolVersion, mode, since } of sessions) {
    const named = `  ${client} ${clientVersion}`.trimEnd();
    const faced = mode === undefined ? '' : `, ${mode} mode`;
    lines.push(`${named}, MCP ${protocolVersion}${faced}, for ${duration(now - since)}`);
  }
  return `${lines.join('\n')}\n`;
}

/** Notes on the origin of a configuration file; the workspace's file needs none. */
const FILE_NOTES = { user: ' (user level)', workspace: '', given: ' (from the command line)' } as const;

function problemsOf(configuration: GatewaySnapshot['configuration']): string[] {
  const { file, exists, files = [], problems } = configuration;
  const there = files.filter((one) => one.exists).map((one) => `config   ${one.file}${FILE_NOTES[one.origin]}`);
  const known = exists ? there : [`config   ${file} does not exist`];
  const reported = problems.map(
    ({ severity, message, location }) =>
      `${severity}    ${location.file}:${location.line}:${location.column}: ${message}`,
  );
  return [...known, ...reported];
}

function describeServer(server: ServerStatus): string {
  const pid = server.pid === undefined ? '' : `, pid ${server.pid}`;
  const tools = server.state === 'ready' || server.toolCount > 0 ? `, ${count(server.toolCount, 'tool')}` : '';
  const reason =
    server.reason === undefined
      ? ''
      : `: ${server.reason}${server.command === undefined ? '' : ` Run: ${server.command}`}`;
  const place = server.reason && server.location ? ` (${server.location.file}:${server.location.line})` : '';
  const review = (server.held?.length ?? 0) + (server.drifted ?? 0);
  const held = review === 0 ? '' : `, ${count(review, 'item')} to review (waygate trust)`;
  const walls = server.walls === undefined || server.reason !== undefined ? '' : `, ${server.walls}`;
  const protocol = server.protocol && server.reason === undefined ? `, MCP ${server.protocol.version}` : '';
  return `${serverState(server.state).words}${tools}${held}${pid}${walls}${protocol}${reason}${place}`;
}
