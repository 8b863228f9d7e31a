import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureWorkspaceState, stateRoot, unwritable } from '../../../config/state/stateFolder.ts';
import { attach, endSilent } from '../../../host/attach/attach.ts';
import { type GatewayTarget, gatewayFolder, stateVariant } from '../../../host/attach/startWorker.ts';
import { lostWithHost } from '../../../host/session/clientCall.ts';
import { introductionOf, serverInfoOf } from '../../../host/session/introductions.ts';
import { SessionHost, type SessionHostOptions } from '../../../host/session/sessionHost.ts';
import { roundKey, UsedRounds } from '../../../host/session/usedRounds.ts';
import { IdleCollection } from '../../../lib/idleCollection.ts';
import { optimizeEarly } from '../../../lib/optimizeEarly.ts';
import { isAbsent, readBoundedText, readFailure } from '../../../lib/readBounded.ts';
import type { Mode } from '../../../link/mode.ts';
import { HttpFront } from '../../../mcp/http/httpFront.ts';
import { chosenMode } from '../../chosenMode.ts';
import type { HttpOptions, ServeOptions } from '../../commands.ts';
import { keptIntroduction } from '../../keptIntroduction.ts';
import { printProblem } from '../../print.ts';
import { ownRuntime } from '../../runtime.ts';

const TOKEN_FILE = 'http-token';
const TOKEN_BYTES = 32;
/** Bounds of a token that nobody guesses: its length, and the number of characters and of steps between them that differ. */
const MIN_TOKEN = { chars: 32, kinds: 8 };
const MAX_TOKEN_BYTES = 4_096;

/** Runs the host for clients that use a URL. Every HTTP session has its own session with the worker. */
export async function serveHttp(target: ServeOptions, options: HttpOptions): Promise<number> {
  const log = (line: string): void => void printProblem(line);
  const runtime = ownRuntime(target);
  const token = tokenOf(target, options);
  const garbage = new IdleCollection();
  optimizeEarly();
  const hostOf = ({ input, output }: Pick<SessionHostOptions, 'input' | 'output'>, mode: Mode): SessionHost =>
    new SessionHost({
      input,
      output,
      log,
      mode,
      workspace: target.workspace,
      endSilent,
      onTraffic: () => garbage.work(),
      folder: gatewayFolder(target),
      attach: (signal, start) =>
        attach(runtime, { kind: 'session', start, holds: true, marksRelated: true, mode, signal, log }),
    });
  const front = new HttpFront({
    port: options.port,
    log,
    ...(token ? { token: token.value } : {}),
    // Read for each session: the file may have changed.
    onSession: (streams) => hostOf(streams, chosenMode(target)).run(),
    openModern: async () => {
      const { openModernHttp } = await import('../../../host/modern/modernEra.ts');
      const folder = ensureWorkspaceState(target.workspace, stateRoot(), stateVariant(target));
      return openModernHttp({
        key: roundKey(folder),
        used: new UsedRounds(folder),
        token: token?.value ?? '',
        modeNow: () => {
          const mode = chosenMode(target);
          return { mode, introduction: introductionOf(mode, undefined) };
        },
        kept: keptIntroduction(target),
        serverInfo: serverInfoOf(undefined),
        outcomeUnknown: lostWithHost,
        openHost: hostOf,
      });
    },
  });
  log(`serves ${await listen(front, options.port)}`);
  log(
    token ? `its bearer token is in ${token.file}` : 'it requires no token: every program on this machine can use it',
  );
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  await front.close();
  return 0;
}

async function listen(front: HttpFront, port: number): Promise<string> {
  try {
    return await front.listen();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new Error(`port ${port} is in use; choose another with --port, or any free port with --port 0.`);
    }
    throw new Error(`cannot listen on port ${port} (${code ?? message}); choose another with --port.`);
  }
}

function tokenOf(target: GatewayTarget, { token }: HttpOptions): { file: string; value: string } | undefined {
  if (token === 'none') return undefined;
  return token === 'own' ? ownToken(target) : { file: token.file, value: readToken(token.file) };
}

/** Returns the workspace's token, created once, so that a client's configuration stays valid. */
function ownToken(target: GatewayTarget): { file: string; value: string } {
  const folder = ensureWorkspaceState(target.workspace, stateRoot(), stateVariant(target));
  const file = join(folder, TOKEN_FILE);
  try {
    writeFileSync(file, `${randomBytes(TOKEN_BYTES).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritable(folder, error);
  }
  return { file, value: readToken(file) };
}

function readToken(file: string): string {
  let text: string;
  try {
    text = readBoundedText(file, { maxBytes: MAX_TOKEN_BYTES, secret: true }).trim();
  } catch (error) {
    if (isAbsent(error, file)) throw new Error(`the token file ${file} does not exist.`);
    throw new Error(
      `the token file ${file} is not used: ${readFailure(error)}; a token needs a file of yours with the mode 600.`,
    );
  }
  if (!/^[\x21-\x7e]+$/.test(text) || text.length < MIN_TOKEN.chars) {
    throw new Error(
      `the token file ${file} must hold one token of at least ${MIN_TOKEN.chars} visible ASCII characters and nothing else.`,
    );
  }
  if (!isGuessable(text)) return text;
  throw new Error(`the token in ${file} could be guessed; use a random one, for instance from "openssl rand -hex 32".`);
}

/** Whether a token has few characters, follows a sequence or repeats a part. A random one practically never does. */
function isGuessable(token: string): boolean {
  const codes = [...token].map((char) => char.charCodeAt(0));
  const steps = codes.slice(1).map((code, i) => code - (codes[i] ?? 0));
  return [codes, steps].some((kinds) => new Set(kinds).size < MIN_TOKEN.kinds) || /(.{8}).*\1/.test(token);
}
