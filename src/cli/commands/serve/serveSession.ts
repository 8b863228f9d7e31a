import type { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ensureWorkspaceState, StateFolderError, stateRoot } from '../../../config/state/stateFolder.ts';
import { type AttachOptions, attach, endSilent } from '../../../host/attach/attach.ts';
import { type GatewayTarget, gatewayFolder, stateVariant } from '../../../host/attach/startWorker.ts';
import { SessionHost } from '../../../host/session/sessionHost.ts';
import { IdleCollection } from '../../../lib/idleCollection.ts';
import type { Mode } from '../../../link/mode.ts';
import type { ServeOptions } from '../../commands.ts';
import { printProblem } from '../../print.ts';
import { ownRuntime } from '../../runtime.ts';

export interface Serving {
  target: ServeOptions;
  mode: Mode;
}

/** Serves a session of an earlier revision to its end. */
export async function serveSession(serving: Serving, input: Readable): Promise<number> {
  // Starting the worker takes longest, so begin before the host is built.
  const first = attachSession(serving, { start: true });
  first.catch(() => undefined);
  await nextTurn();
  return hostOf(serving, { input, output: process.stdout, first }).run();
}

export interface HostStreams {
  input: Readable;
  output: Writable;
  marksRelated?: boolean;
  /** Search for a worker that has begun already. */
  first?: Promise<Socket | undefined>;
}

export function hostOf(serving: Serving, { input, output, marksRelated = false, first }: HostStreams): SessionHost {
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
export function stateFolderWorks(target: GatewayTarget): boolean {
  try {
    ensureWorkspaceState(target.workspace, stateRoot(), stateVariant(target));
    return true;
  } catch (error) {
    if (error instanceof StateFolderError) return false;
    throw error;
  }
}
