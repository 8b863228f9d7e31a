import type { Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ensureWorkspaceState, StateFolderError, stateRoot } from '../../config/state/stateFolder.ts';
import { attach, endSilent } from '../../host/attach/attach.ts';
import { type GatewayTarget, gatewayFolder, stateVariant } from '../../host/attach/startWorker.ts';
import { SessionHost } from '../../host/session/sessionHost.ts';
import { IdleCollection } from '../../lib/idleCollection.ts';
import { chosenMode } from '../chosenMode.ts';
import type { ServeOptions } from '../commands.ts';
import { printProblem } from '../print.ts';
import { ownRuntime } from '../runtime.ts';

const IN_A_TERMINAL =
  'this MCP server waits for a client on its standard input. Clients start it themselves (waygate client-config CLIENT). Ctrl-C ends it.';

/** EX_CANTCREAT. */
const EXIT_STATE_FOLDER = 73;

/** Runs the host on stdio. Only protocol goes to stdout; messages for people go to stderr. */
export async function serve(target: ServeOptions): Promise<number> {
  const log = (line: string): void => void printProblem(line);
  const runtime = ownRuntime(target);
  const mode = chosenMode(target);
  if (process.stdin.isTTY) log(IN_A_TERMINAL);
  const attachSession = (start: boolean, signal?: AbortSignal) =>
    attach(runtime, { kind: 'session', start, holds: true, mode, log, ...(signal ? { signal } : {}) });
  // Starting the worker takes longest, so begin before the host is built.
  let first: Promise<Socket | undefined> | undefined = attachSession(true);
  first.catch(() => undefined);
  await nextTurn();
  const garbage = new IdleCollection();
  const host = new SessionHost({
    input: process.stdin,
    output: process.stdout,
    log,
    mode,
    name: target.serverName,
    workspace: target.workspace,
    endSilent,
    onTraffic: () => garbage.work(),
    folder: gatewayFolder(target),
    attach: (signal, start) => {
      const attaching = first ?? attachSession(start, signal);
      first = undefined;
      return attaching;
    },
  });
  const code = await host.run();
  return stateFolderWorks(target) ? code : EXIT_STATE_FOLDER;
}

/** Checks the state folder. The session was served to its end without a gateway; the exit code gives the reason. */
function stateFolderWorks(target: GatewayTarget): boolean {
  try {
    ensureWorkspaceState(target.workspace, stateRoot(), stateVariant(target));
    return true;
  } catch (error) {
    if (error instanceof StateFolderError) return false;
    throw error;
  }
}
