import type { LegacyHost } from '../../../host/modern/modernOptions.ts';
import { lostWithHost } from '../../../host/session/clientCall.ts';
import { introductionOf, serverInfoOf } from '../../../host/session/introductions.ts';
import { firstMessage, opensModern } from '../../../host/session/opening.ts';
import { optimizeEarly } from '../../../lib/optimizeEarly.ts';
import type { JsonRpcMessage } from '../../../link/frames.ts';
import { chosenMode } from '../../chosenMode.ts';
import type { ServeOptions } from '../../commands.ts';
import { printProblem } from '../../print.ts';
import type { HostStreams, Serving } from './serveSession.ts';

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
  const { stateFolderWorks } = await import('./serveSession.ts');
  return stateFolderWorks(target) ? code : EXIT_STATE_FOLDER;
}

function serveOpened(target: ServeOptions, opening: JsonRpcMessage | undefined): Promise<number> {
  const serving = { target, mode: chosenMode(target) };
  return opening && opensModern(opening) ? serveModern(serving) : serveLegacy(serving, process.stdin);
}

/** Serves a session. Loads its code, which `server/discover` does not need. */
async function serveLegacy(serving: Serving, input: HostStreams['input']): Promise<number> {
  const { serveSession } = await import('./serveSession.ts');
  return serveSession(serving, input);
}

/** Serves revision 2026-07-28. Loads its code, which other clients do not need. */
async function serveModern(serving: Serving): Promise<number> {
  const { target, mode } = serving;
  const introduction = introductionOf(mode, target.serverName);
  const kept = introduction ? undefined : (await import('../../keptIntroduction.ts')).keptIntroduction(target);
  const { serveModernStdio } = await import('../../../host/modern/modernEra.ts');
  return serveModernStdio({
    mode,
    input: process.stdin,
    output: process.stdout,
    introduction,
    kept,
    serverInfo: serverInfoOf(target.serverName),
    outcomeUnknown: lostWithHost,
    openHost: (streams) => hostAtUse(serving, { ...streams, marksRelated: true }),
    serveLegacy: (input) => serveLegacy(serving, input),
  });
}

/** Returns a host whose code is loaded when it runs. */
function hostAtUse(serving: Serving, streams: HostStreams): LegacyHost {
  let host: LegacyHost | undefined;
  return {
    run: async () => {
      const { hostOf } = await import('./serveSession.ts');
      host = hostOf(serving, streams);
      return host.run();
    },
    // Until then nothing has left.
    mayRepeat: (id) => host?.mayRepeat(id) ?? true,
  };
}
