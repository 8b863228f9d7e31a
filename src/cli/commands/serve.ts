import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ensureWorkspaceState, StateFolderError, stateRoot } from '../../config/state/stateFolder.ts';
import { type AttachOptions, attach, endSilent } from '../../host/attach/attach.ts';
import { type GatewayTarget, gatewayFolder, stateVariant } from '../../host/attach/startWorker.ts';
import { lostWithHost } from '../../host/session/clientCall.ts';
import { firstMessage, opensModern } from '../../host/session/opening.ts';
import { introductionOf, serverInfoOf } from '../../host/session/sessionBeginning.ts';
import { SessionHost } from '../../host/session/sessionHost.ts';
import { IdleCollection } from '../../lib/idleCollection.ts';
import { optimizeEarly } from '../../lib/optimizeEarly.ts';
import type { JsonRpcMessage } from '../../link/frames.ts';
import type { Mode } from '../../link/mode.ts';
import { chosenMode } from '../chosenMode.ts';
import type { ServeOptions } from '../commands.ts';
import { keptIntroduction } from '../keptIntroduction.ts';
import { printProblem } from '../print.ts';
import { ownRuntime } from '../runtime.ts';

const IN_A_TERMINAL =
  'this MCP server waits for a client on its standard input. Clients start it themselves (waygate client-config CLIENT). Ctrl-C ends it.';

/** EX_CANTCREAT. */
const EXIT_STATE_FOLDER = 73;

/** Runs the host on stdio. Only protocol goes to stdout; messages for people go to stderr. */
export async function serve(target: ServeOptions): Promise<number> {
  if (process.stdin.isTTY) printProblem(IN_A_TERMINAL);
  optimizeEarly();
  // The first message decides the era, and a client that only asks `server/discover`, or nothing, needs no worker.
  const opening = await firstMessage(process.stdin);
  const code = process.stdin.readable ? await serveOpened(target, opening) : 0;
  return stateFolderWorks(target) ? code : EXIT_STATE_FOLDER;
}

function serveOpened(target: ServeOptions, opening: JsonRpcMessage | undefined): Promise<number> {
  const serving = { target, mode: chosenMode(target) };
  return opening && opensModern(opening) ? serveModern(serving) : serveLegacy(serving, process.stdin);
}

interface Serving {
  target: ServeOptions;
  mode: Mode;
}

async function serveLegacy(serving: Serving, input: Readable): Promise<number> {
  // Starting the worker takes longest, so begin before the host is built.
  const first = attachSession(serving, { start: true });
  first.catch(() => undefined);
  await nextTurn();
  return hostOf(serving, { input, output: process.stdout, first }).run();
}

/** Serves revision 2026-07-28. Loads its code, which other clients do not need. */
async function serveModern(serving: Serving): Promise<number> {
  const { target, mode } = serving;
  const { serveModernStdio } = await import('../../host/modern/modernEra.ts');
  return serveModernStdio({
    mode,
    input: process.stdin,
    output: process.stdout,
    introduction: introductionOf(mode, target.serverName),
    kept: keptIntroduction(target),
    serverInfo: serverInfoOf(target.serverName),
    outcomeUnknown: lostWithHost,
    openHost: (streams) => hostOf(serving, { ...streams, marksRelated: true }),
    serveLegacy: (input) => serveLegacy(serving, input),
  });
}

interface HostStreams {
  input: Readable;
  output: Writable;
  marksRelated?: boolean;
  /** Search for a worker that has begun already. */
  first?: Promise<Socket | undefined>;
}

function hostOf(serving: Serving, { input, output, marksRelated = false, first }: HostStreams): SessionHost {
  const { target, mode } = serving;
  const garbage = new IdleCollection();
  let begun = first;
  return new SessionHost({
    input,
    output,
    log: printProblem,
    mode,
    name: target.serverName,
    workspace: target.workspace,
    endSilent,
    onTraffic: () => garbage.work(),
    folder: gatewayFolder(target),
    attach: (signal, start) => {
      const attaching = begun ?? attachSession(serving, { start, signal, marksRelated });
      begun = undefined;
      return attaching;
    },
  });
}

function attachSession(
  { target, mode }: Serving,
  options: Pick<AttachOptions, 'start' | 'signal' | 'marksRelated'>,
): Promise<Socket | undefined> {
  return attach(ownRuntime(target), { kind: 'session', holds: true, mode, log: printProblem, ...options });
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
